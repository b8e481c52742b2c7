import type { SandboxResources } from '@sandyard/runtime/types'
import type { Manifest } from '@sandyard/templates/manifest'
import type { TemplateLimits } from '../builds/build-config.ts'
import { checkTemplateSize } from '../builds/registration/template-size.ts'

/** The sizes of a ready-made template on a server that may allow less: a smaller sandbox is better than none. */
export function fitResources(
  { cpuCount, memoryMib, minDiskMib }: Pick<Manifest, 'cpuCount' | 'memoryMib' | 'minDiskMib'>,
  limits: TemplateLimits,
): SandboxResources {
  const cpus = Math.min(cpuCount, limits.maxCpuCount)
  const memory = Math.min(memoryMib, limits.maxMemoryMib)
  const wanted = {
    cpuCount: cpus > 1 ? cpus - (cpus % 2) : 1,
    memoryMib: memory - (memory % 2),
    diskMib: minDiskMib === undefined ? undefined : Math.min(minDiskMib, limits.maxDiskMib),
  }
  return checkTemplateSize(wanted, limits)
}
