void launch_second(int* out);

int main() { launch_second(nullptr); }
