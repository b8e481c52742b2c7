import type { LastBackup } from '@sandyard/backup/last-backup'
import type { Template } from '@sandyard/api-contract/templates/template'
import type { CliParts } from '../cli-parts.ts'
import { describeFailure } from '../fail.ts'
import { readRelease } from '../release.ts'
import { listSandboxes } from '../sandboxes.ts'
import { findLastBackup } from './last-backup.ts'
import { readServer, type ServerStatus } from './read-server.ts'

export interface Status {
  /** Of this program. */
  readonly version: string
  readonly server: ServerStatus
  /** Of the team of the key; undefined when the server could not be asked. */
  readonly sandboxes: { readonly running: number; readonly paused: number } | undefined
  readonly templates: number | undefined
  readonly lastBackup: LastBackup | undefined
  /** What could not be read, in sentences. */
  readonly problems: readonly string[]
}

/** Reads what can be read: a part that is down leaves its fields undefined and adds a problem. */
export async function readStatus(parts: CliParts): Promise<Status> {
  const problems: string[] = []
  const orProblem = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (err) {
      parts.signal.throwIfAborted()
      const { sentence } = describeFailure(err, parts.signal)
      if (sentence !== undefined && !problems.includes(sentence)) problems.push(sentence)
      return undefined
    }
  }
  const server = await readServer(parts, orProblem)
  const sandboxes = server.reachable ? await orProblem(() => countSandboxes(parts)) : undefined
  const templates = server.reachable ? await orProblem(() => parts.api.listAll<Template>('listTemplatesV2')) : undefined
  return {
    version: readRelease(),
    server,
    sandboxes,
    templates: templates?.length,
    lastBackup: await findLastBackup(parts),
    problems,
  }
}

async function countSandboxes({ api }: CliParts): Promise<{ running: number; paused: number }> {
  const found = await listSandboxes(api)
  const running = found.filter(({ state }) => state === 'running').length
  return { running, paused: found.length - running }
}
