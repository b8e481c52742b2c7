import { Agent } from 'node:http'
import pLimit from 'p-limit'
import { RELAY_TIMEOUT_MS } from '@sandyard/dashboard-contract/limits'
import { within } from '@sandyard/kit/async/within'
import type { Daemon } from '../../../daemon/daemon.ts'
import { readSmallFile } from '../../../daemon/daemon-files.ts'
import { toRelayError } from '../relay-error.ts'

const WIDTH = 8

/**
 * Reads small files of a sandbox as root, such as those of `/proc`: nothing runs inside for that. Files that are absent or cannot be read are
 * left out.
 *
 * @throws AppError when the sandbox does not answer in time; the abort reason
 */
export async function readTexts(daemon: Daemon, paths: readonly string[], signal: AbortSignal): Promise<Map<string, string>> {
  const agent = new Agent({ keepAlive: true, maxSockets: WIDTH })
  const limit = pLimit(WIDTH)
  try {
    const pairs = await within({ what: 'The answer of the sandbox', timeoutMs: RELAY_TIMEOUT_MS, signal }, (signal) =>
      Promise.all(
        paths.map((path) =>
          limit(async (): Promise<[string, string | undefined]> => [path, await readSmallFile(daemon, path, { agent, signal })]),
        ),
      ),
    )
    return new Map(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined))
  } catch (err) {
    signal.throwIfAborted()
    throw toRelayError(err)
  } finally {
    agent.destroy()
  }
}
