// What the program around a checked solution (`core/sanitize/sanitize_harness.cpp`) tells the sanitizers.
#pragma once

extern "C" void wavepool_name_memory(const void* memory, const char* name);
