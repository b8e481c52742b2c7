import { readFile } from 'node:fs/promises'

/**
 * CPU milliseconds that all processes of a container have used so far, including ended ones, as the kernel counts them.
 * Unlike elapsed time this hardly depends on the load of the machine.
 *
 * @param pid of any process in it
 */
export async function cpuMsOf(pid: number): Promise<number> {
  const lines = (await readFile(`/proc/${pid}/cgroup`, 'utf8')).trim().split('\n')
  const groups = lines.map((line) => line.split(':') as [string, string, string])
  const old = groups.find(([, controllers]) => controllers.split(',').includes('cpuacct'))
  if (old !== undefined) return Number(await readFile(`/sys/fs/cgroup/${old[1]}${old[2]}/cpuacct.usage`, 'utf8')) / 1e6
  const [, , path] = groups.find(([id]) => id === '0') ?? ['', '', '/']
  const [, micros] = /^usage_usec (\d+)$/m.exec(await readFile(`/sys/fs/cgroup${path}/cpu.stat`, 'utf8')) ?? []
  return Number(micros) / 1e3
}
