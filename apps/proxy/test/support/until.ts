import { pollUntil } from '@sandyard/kit/async/poll-until'

/** Waits for a condition, for five seconds at most. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  await pollUntil({ what, timeoutMs: 5000, everyMs: 2 }, () => (isSo() ? true : undefined))
}
