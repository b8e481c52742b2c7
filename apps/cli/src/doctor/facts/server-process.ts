import { describeDataDirectory } from '@sandyard/api/program/data/data-directory'
import { CliFailure } from '../../fail.ts'
import { findServerPid } from '../../server/running-server.ts'
import type { Facts } from './facts.ts'
import type { RunningProcess } from './host-reader.ts'
import { Unreadable } from './unreadable.ts'

/**
 * The process that holds the lock of the data directory; undefined when none does, or this user may not look.
 *
 * @throws Unreadable when the lock cannot be tested
 */
export function findServerProcess({ host, settings }: Pick<Facts, 'host' | 'settings'>): RunningProcess | undefined {
  const pid = findHolder(settings.dataDir)
  return pid === undefined ? undefined : host.findProcess(pid)
}

function findHolder(dataDir: string): number | undefined {
  try {
    return findServerPid(describeDataDirectory(dataDir))
  } catch (err) {
    if (err instanceof CliFailure) throw new Unreadable(err.message.replace(/\.$/, ''), { cause: err })
    return undefined
  }
}
