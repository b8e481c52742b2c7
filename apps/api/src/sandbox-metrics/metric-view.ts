import type { SandboxMetric } from '@sandyard/api-contract/sandboxes/sandbox-metrics'
import type { Sample } from './sample.ts'
import { toSampleTime } from '../time-series/sample-time.ts'

export function toSandboxMetric(sample: Sample): SandboxMetric {
  return {
    ...toSampleTime(sample.sampled_at),
    cpuCount: sample.cpu_count,
    cpuUsedPct: sample.cpu_used_pct,
    memUsed: sample.mem_used,
    memTotal: sample.mem_total,
    memCache: sample.mem_cache,
    diskUsed: sample.disk_used,
    diskTotal: sample.disk_total,
  }
}
