// What a run's event stream sends; docs/http-api.md has each status with its fields.

export interface Timing {
  timing?: string | null;
  shown_interval?: number | null;
}

export interface TestResult {
  name: string;
  status: string;
}

export interface Benchmark extends Timing {
  name: string;
  runtime_ms?: number | null;
  gflops?: number | null;
  gbytes_per_second?: number | null;
  percent_of_roof?: number | null;
  min_ms?: number | null;
  max_ms?: number | null;
  p5_ms?: number | null;
  p95_ms?: number | null;
  ci?: { low_ms: number; high_ms: number } | null;
  samples: number;
  session_medians_ms?: number[] | null;
  converged?: boolean | null;
  stopped_by?: string | null;
  audit_ratio?: number | null;
  floor_ms?: number | null;
  disagreement?: number | null;
  unproven_because?: string | null;
}

export interface Hint {
  line?: number | null;
  what: string;
  why: string;
  advice: string;
}

export interface KernelResources {
  vgpr: number;
  sgpr: number;
  agpr: number;
  lds_bytes: number;
  dynamic_lds?: boolean;
  scratch_bytes: number;
  spills: number;
  mfma?: number | null;
  occupancy: number;
  limited_by?: string | null;
  hints?: Hint[];
}

export interface Compiled {
  warnings?: string;
  isa?: Record<string, KernelResources> | null;
  isa_note?: string | null;
  isa_toolchain?: string | null;
}

export interface Mismatch {
  expected: number | null;
  actual: number | null;
  diff: number | null;
  output?: string;
}

export interface Mismatches {
  sample_differences?: Record<string, Mismatch>;
  mismatch_count?: number | string | null;
  element_count?: number | string | null;
  max_difference?: number | null;
  mean_difference?: number | null;
}

export interface ProfiledKernel {
  name: string;
  calls: number;
  mean_ns: number;
  min_ns: number;
  max_ns: number;
  share: number;
  grid?: number[] | null;
  block?: number[] | null;
  vgpr?: number | null;
  agpr?: number | null;
  sgpr?: number | null;
  lds_bytes?: number | null;
  scratch_bytes?: number | null;
}

export interface Profile {
  kernels?: ProfiledKernel[];
  kernels_left_out?: number;
  note?: string;
  name?: string;
  solution_calls?: number;
  tool?: string;
  tool_version?: string;
  clock?: string;
}

export interface OutputLine {
  stream: string;
  line: string;
}

export interface Frame extends Timing, Compiled, Partial<OutputLine> {
  status: string;
  // Only of the last.
  final?: boolean;
  timestamp?: number;
  message?: string;
  details?: string;
  cost_usd?: number | null;
  position?: number;
  machine?: { device?: string; device_title?: string } | null;
  device?: string;
  device_title?: string;
  machine_gpu_type?: string | null;
  vm_state?: string;
  stage?: string;
  toolchain?: string;
  cached?: boolean;
  timing_mode?: string | null;
  flush_verified?: boolean | null;
  result?: TestResult & Benchmark;
  test_results?: (TestResult & Benchmark)[];
  benchmark_results?: Benchmark[];
  total_tests?: number | null;
  passed_tests?: number | null;
  avg_runtime_ms?: number | null;
  avg_gflops?: number | null;
  converged?: boolean | null;
  unproven_because?: string | null;
  simulated?: boolean;
  verdict?: string;
  return_code?: number | null;
  has_report?: boolean;
  debug_info?: Mismatches | null;
  input?: unknown;
  output?: unknown;
  expected_output?: unknown;
  stdout?: string;
  stderr?: string;
  profile?: Profile | null;
}
