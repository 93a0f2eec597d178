// Launch attributes by name, and configs that no launch takes.

#include "c_test.h"

static baton_device* device;
static baton_kernel* kernel;

static const char kPtx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { "
    "griddepcontrol.wait; ret; }\n.visible .entry never_waits() { ret; }\n";

// Launches with one attribute.
static baton_error* launch_with(const char* name, baton_value value) {
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_attribute attribute;
  attribute.name = name;
  attribute.value = value;
  config.attributes = &attribute;
  config.attribute_count = 1;
  return baton_kernel_launch(kernel, &config, NULL, 0);
}

static void give_attributes_by_name(void) {
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_attribute map[4];
  OK(launch_with("priority", BATON_INT(-1)));
  OK(launch_with("cooperative", BATON_BOOL(1)));
  OK(launch_with("mem_sync_domain", BATON_TEXT("remote")));
  OK(launch_with("programmatic_stream_serialization", BATON_INT(1)));
  map[0].name = "mem_sync_domain_map.default";
  map[0].value = BATON_INT(0);
  map[1].name = "mem_sync_domain_map.remote";
  map[1].value = BATON_INT(1);
  map[2].name = "cluster.x";
  map[2].value = BATON_INT(2);
  map[3].name = "cluster_scheduling_policy";
  map[3].value = BATON_TEXT("spread");
  config.attributes = map;
  config.attribute_count = 4;
  config.grid[0] = 4;
  OK(baton_kernel_launch(kernel, &config, NULL, 0));

  config.cluster[0] = 2;
  REFUSED(baton_kernel_launch(kernel, &config, NULL, 0),
          "cluster is given by the config and by its attributes");
  map[3].name = "cluster.x";
  config.cluster[0] = 0;
  REFUSED(baton_kernel_launch(kernel, &config, NULL, 0), "cluster.x is given twice");
}

static void refuse_attributes(void) {
  FAILS(launch_with("priorty", BATON_INT(1)), BATON_ERROR_INVALID_INPUT,
        "there is no launch attribute \"priorty\"; did you mean \"priority\"?");
  REFUSED(launch_with("mem_sync_domain_map", BATON_INT(1)), "did you mean");
  REFUSED(launch_with("mem_sync_domain_map.remote", BATON_INT(1)),
          "mem_sync_domain_map.default is missing");
  REFUSED(launch_with("mem_sync_domain", BATON_TEXT("remot")), "remote");
  REFUSED(launch_with("mem_sync_domain", BATON_TEXT(NULL)), "is a text that is null");
  REFUSED(launch_with("cooperative", BATON_INT(2)), "cooperative is 2, it takes true or false");
  REFUSED(launch_with("priority", BATON_FLOAT(0.5)), "priority is 0.5");
  REFUSED(launch_with("priority", BATON_NONE()),
          "the launch attribute priority has a value of type 0");
  REFUSED(launch_with("synchronization_policy", BATON_INT(1)), "attribute of streams");
}

static void refuse_configs(void) {
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  config.cooperative = 2;
  REFUSED(baton_kernel_launch(kernel, &config, NULL, 0), "config->cooperative is 2");
  config.cooperative = 0;
  config.pdl = -1;
  REFUSED(baton_kernel_launch(kernel, &config, NULL, 0), "config->pdl is -1, it takes 0, 1 or 2 (BATON_LAUNCH_FORCE_PDL)");
  config.pdl = 0;
  config.block[0] = 1025;
  FAILS(baton_kernel_launch(kernel, &config, NULL, 0), BATON_ERROR_LIMIT, "1025");
  config.block[0] = 0;
  FAILS(baton_kernel_launch(kernel, &config, NULL, 0), BATON_ERROR_LIMIT,
        "the smallest extent is 1");
  config.block[0] = 32;
  config.shared = 1u << 30;
  FAILS(baton_kernel_launch(kernel, &config, NULL, 0), BATON_ERROR_LIMIT, "1073741824");
  config.shared = 0;
  config.cluster[0] = 3;
  config.grid[0] = 4;
  FAILS(baton_kernel_launch(kernel, &config, NULL, 0), BATON_ERROR_LIMIT, "3");
  // An axis of a cluster that was left out has one block.
  config.cluster[0] = 2;
  OK(baton_kernel_launch(kernel, &config, NULL, 0));
  config.size = 0;
  REFUSED(baton_kernel_launch(kernel, &config, NULL, 0), "config->size is 0");
}

static void force_pdl(baton_module* module) {
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_kernel* never_waits = NULL;
  baton_error* found = NULL;
  REQUIRE_OK(baton_kernel_get(module, "never_waits", &never_waits));
  config.pdl = 1;
  OK(baton_kernel_launch(kernel, &config, NULL, 0));
  REFUSED(baton_kernel_launch(never_waits, &config, NULL, 0), "never waits");
  config.pdl = BATON_LAUNCH_FORCE_PDL;
  OK(baton_kernel_launch(never_waits, &config, NULL, 0));
  OK(baton_kernel_launch(kernel, &config, NULL, 0));
  config.pdl = 3;
  REFUSED(baton_kernel_launch(kernel, &config, NULL, 0), "config->pdl is 3");
  baton_kernel_release(never_waits);
  // The simulated GPU reports the launch that was forced, a GPU does not.
  found = baton_device_synchronize(device);
  if (found != NULL) CHECK(strstr(baton_error_message(found), "never_waits") != NULL);
  baton_error_release(found);
}

int main(void) {
  baton_module* module = NULL;
  device = open_test_device();
  REQUIRE_OK(baton_module_load(device, kPtx, sizeof(kPtx) - 1, &module));
  REQUIRE_OK(baton_kernel_get(module, "nothing", &kernel));
  give_attributes_by_name();
  refuse_attributes();
  refuse_configs();
  force_pdl(module);
  OK(baton_device_synchronize(device));
  baton_kernel_release(kernel);
  baton_module_release(module);
  baton_device_release(device);
  return finish_test();
}
