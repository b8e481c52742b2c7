import { fail, warn, worstOf, type Check, type Finding } from '../check.ts'

export const controlGroups: Check = {
  id: 'K2',
  title: 'Control groups',
  checks: '`/info`: control groups version 1 warn; missing controllers for processors, memory or processes fail',
  why: 'The limits of sandboxes are control groups: without a controller one sandbox takes all. Version 1 is at its end, and cannot reclaim memory as well.',
  todo: 'Boot with systemd.unified_cgroup_hierarchy=1 for version 2, and without cgroup_disable=; a container in a container needs the controllers of its host.',
  async run({ engine }): Promise<Finding> {
    const { CgroupVersion = '1', CpuCfsQuota, MemoryLimit, PidsLimit } = await engine.info()
    const controllers: readonly (readonly [string, boolean])[] = [
      ['cpu', CpuCfsQuota],
      ['memory', MemoryLimit],
      ['pids', PidsLimit],
    ]
    const missing = controllers.filter(([, isThere]) => !isThere).map(([name]) => name)
    return worstOf(
      [
        missing.length > 0 ? fail(`the engine has no controller for ${missing.join(', ')}`) : undefined,
        CgroupVersion === '1' ? warn('control groups version 1') : undefined,
      ],
      `version ${CgroupVersion} with cpu, memory and pids`,
    )
  },
}
