import { setTimeout as delay } from 'node:timers/promises'

const TRIES = 6
const PAUSE_MS = 50

/**
 * Repeats a call that freezes a container while runc gives up with "unable to freeze": with control groups v1 it does so on a busy host while
 * processes in the container start others. The container is then thawed, so the call can be repeated.
 *
 * @throws the engine's error of the last try
 */
export async function repeatFreeze<T>(freeze: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await freeze()
    } catch (err) {
      if (tries === TRIES || !(err instanceof Error) || !err.message.includes('unable to freeze')) throw err
      await delay(PAUSE_MS * tries)
    }
  }
}
