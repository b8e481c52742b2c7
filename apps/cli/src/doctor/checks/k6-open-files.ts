import { warn, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'
import { findServerProcess } from '../facts/server-process.ts'
import { showPercent } from '../sizes.ts'
import { sysctlCommand } from '../sysctl.ts'

const MUCH_SHARE = 0.8
const LEAST_OWN = 65_536

export const openFiles: Check = {
  id: 'K6',
  title: 'Open files',
  checks:
    '`fs.file-nr` over 80 % of its maximum warns; a limit of open files under 65,536 of the server (of this process when none runs) warns',
  why: 'A connection is an open file. Without free ones the host accepts no connection and starts no sandbox; the proxy holds two for each connection of a client.',
  todo: 'Raise fs.file-max; start the server with ulimit -n 65536 or more (systemd: LimitNOFILE=).',
  async run(facts): Promise<Finding> {
    const [used = 0, , max = 0] = facts.host.numbers('proc/sys/fs/file-nr')
    const own = readLimit(facts)
    const files = `${used} of ${max} files of the host are open (${showPercent(used / max)})`
    const limit = `${own.whose} may open ${own.limit}`
    return worstOf(
      [
        used > max * MUCH_SHARE ? warn(files, { commands: [sysctlCommand('K6', { 'fs.file-max': max * 2 })] }) : undefined,
        own.limit < LEAST_OWN ? warn(limit) : undefined,
      ],
      `${files}; ${limit}`,
    )
  },
}

function readLimit(facts: Facts): { readonly whose: string; readonly limit: number } {
  const server = findServerProcess(facts)
  const text = facts.host.text(`proc/${server?.pid ?? 'self'}/limits`)
  const [, soft = '0'] = /^Max open files\s+(\S+)/m.exec(text) ?? []
  return { whose: server === undefined ? 'this process' : 'the server', limit: soft === 'unlimited' ? Infinity : Number(soft) }
}
