// What the libraries of ROCm find in a sandbox: `agents` those of the HSA runtime, `hip` the devices of HIP, one to a
// line.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Of hsa.h and hsa_ext_amd.h.
enum { NAME = 0, NODE = 16, DEVICE = 17, GPU = 1, UUID = 0xA011 };
typedef struct {
  uint64_t handle;
} agent;
static int (*information)(agent, int, void *);

static int tell(agent one, void *unused) {
  char name[64] = "", uuid[32] = "";
  int device = -1;
  (void)unused;
  information(one, NAME, name);
  information(one, DEVICE, &device);
  information(one, UUID, uuid);
  printf("%s %s\n", device == GPU ? name : "cpu", uuid);
  return 0;
}

static int agents(void) {
  void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOW);
  if (!library) return printf("%s\n", dlerror()), 3;
  int (*start)(void) = (int (*)(void))dlsym(library, "hsa_init");
  int (*each)(int (*)(agent, void *), void *) =
      (int (*)(int (*)(agent, void *), void *))dlsym(library, "hsa_iterate_agents");
  information = (int (*)(agent, int, void *))dlsym(library, "hsa_agent_get_info");
  int status = start();
  if (status) return printf("hsa_init: 0x%x\n", status), 1;
  return each(tell, 0);
}

static int hip(void) {
  void *library = dlopen("libamdhip64.so.6", RTLD_NOW);
  if (!library) return printf("%s\n", dlerror()), 3;
  int (*count)(int *) = (int (*)(int *))dlsym(library, "hipGetDeviceCount");
  int (*select)(int) = (int (*)(int))dlsym(library, "hipSetDevice");
  int (*memory)(size_t *, int) = (int (*)(size_t *, int))dlsym(library, "hipDeviceTotalMem");
  int (*allocate)(void **, size_t) = (int (*)(void **, size_t))dlsym(library, "hipMalloc");
  int (*release)(void *) = (int (*)(void *))dlsym(library, "hipFree");
  int devices = 0, status = count(&devices);
  if (status) return printf("hipGetDeviceCount: %d\n", status), 1;
  for (int at = 0; at < devices; ++at) {
    size_t bytes = 0;
    void *array = 0;
    if ((status = select(at)) || (status = memory(&bytes, at)) || (status = allocate(&array, 1 << 20)) ||
        (status = release(array)))
      return printf("device %d: %d\n", at, status), 1;
    printf("%zu GiB\n", bytes >> 30);
  }
  return 0;
}

int main(int count, char **words) { return count > 1 && !strcmp(words[1], "hip") ? hip() : agents(); }
