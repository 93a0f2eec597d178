#pragma once

// Marks what a shared libbaton exports; everything else is hidden.
#define BATON_API __attribute__((visibility("default")))
