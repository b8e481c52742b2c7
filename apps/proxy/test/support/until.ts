import { pollUntil } from '@sandyard/kit/async/poll-until'

/** Waits for a condition, for 25 seconds at most. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  await pollUntil({ what, timeoutMs: 25_000, everyMs: 5 }, () => (isSo() ? true : undefined))
}
