import { isAppError } from '@sandyard/kit/errors/app-error'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import { within } from '@sandyard/kit/async/within'
import type { CheckGroup } from './all-checks.ts'
import { fail, skipped, type Check, type Finding } from './check.ts'
import type { Facts } from './facts/facts.ts'
import { Unreadable } from './facts/unreadable.ts'

/** A check and what it has found. */
export interface CheckResult {
  readonly group: string
  readonly check: Check
  readonly finding: Finding
  readonly ms: number
}

const AT_ONCE = 6
const TIMEOUT_MS = 90_000
/** An answer of 70 s is one of the questions. */
const DEEP_TIMEOUT_MS = 240_000

/**
 * Runs the checks, some at once; the results come in the order of the checks, each as soon as those before it are there.
 *
 * @throws the abort reason
 */
export async function* runChecks(groups: readonly CheckGroup[], facts: Facts, signal: AbortSignal): AsyncGenerator<CheckResult> {
  const turns = new Semaphore(AT_ONCE)
  const running = groups.flatMap(({ title, checks }) =>
    checks.map((check) => {
      const result = turns.run(() => runCheck(title, check, { facts, signal }))
      // Another one may be awaited when it rejects.
      result.catch(() => undefined)
      return result
    }),
  )
  for (const result of running) yield await result
}

interface RunOptions {
  readonly facts: Facts
  readonly signal: AbortSignal
}

async function runCheck(group: string, check: Check, { facts, signal }: RunOptions): Promise<CheckResult> {
  signal.throwIfAborted()
  const startedAt = performance.now()
  const finding = await findingOf(check, facts, signal)
  return { group, check, finding, ms: Math.round(performance.now() - startedAt) }
}

async function findingOf(check: Check, facts: Facts, signal: AbortSignal): Promise<Finding> {
  if (check.isDeep === true && !facts.isDeep) return skipped('it needs a sandbox of its own: run this with --deep')
  const timeoutMs = facts.isDeep ? DEEP_TIMEOUT_MS : TIMEOUT_MS
  try {
    return await within({ what: `the check ${check.id}`, timeoutMs, signal }, () => check.run(facts))
  } catch (err) {
    signal.throwIfAborted()
    if (err instanceof Unreadable) return skipped(err.message)
    if (isAppError(err, 'deadline_exceeded')) return fail(`no result: ${err.message}`)
    return fail(`the check itself failed: ${(err as Error).message.split('\n')[0]}`)
  }
}
