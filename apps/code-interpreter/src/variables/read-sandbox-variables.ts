import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Variables } from './kernel-variables.ts'

const TIMEOUT_MS = 2000

/**
 * The variables of the sandbox, from the daemon (`GET /envs`), with the token that the client sent. Undefined when the daemon refuses
 * the token or does not answer: the cell then runs with those of the last cell.
 */
export async function readSandboxVariables(daemonUrl: string, token: string | undefined, log: Logger): Promise<Variables | undefined> {
  try {
    const answer = await fetch(`${daemonUrl}/envs`, {
      headers: token === undefined ? {} : { 'X-Access-Token': token },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (answer.ok) return (await answer.json()) as Variables
    await answer.body?.cancel()
    log.warn({ status: answer.status }, 'the daemon refused to tell the variables of the sandbox')
  } catch (err) {
    log.warn({ err }, 'the daemon did not tell the variables of the sandbox')
  }
  return undefined
}
