import { AppError } from '@sandyard/kit/errors/app-error'

/** The methods of the runtime that a test may make fail or wait. */
export type FaultPoint =
  | 'ping'
  | 'vitals'
  | 'engineId'
  | 'create'
  | 'createFrom'
  | 'createPaused'
  | 'pause'
  | 'resume'
  | 'setEgress'
  | 'snapshot'
  | 'deleteSnapshot'
  | 'remove'
  | 'list'
  | 'changes'
  | 'readOriginal'
  | 'findEnd'
  | 'usage'
  | 'events'
  | 'imageExists'
  | 'images.pull'
  | 'images.buildDockerfile'
  | 'images.inspect'
  | 'images.list'
  | 'images.remove'
  | 'volumes.create'
  | 'volumes.remove'
  | 'volumes.open'
  | 'volumes.sizes'
  | 'volumes.sizeOf'
  | 'volumes.list'

interface Script {
  readonly when: 'before' | 'after'
  readonly error: Error
}

/** A held call: `reached` resolves when the call arrives, `release` lets it continue. */
export interface Hold {
  readonly reached: Promise<void>
  release(): void
}

const ENGINE_IS_GONE = new AppError('unavailable', 'The engine cannot be reached.')

/** Scripts what happens to the next calls of a fake runtime. Each entry is used once, in the order in which the entries were added. */
export class Faults {
  readonly #scripts = new Map<FaultPoint, Script[]>()
  readonly #holds = new Map<FaultPoint, { when: Script['when']; arrive: () => void; released: Promise<void> }[]>()
  readonly #calls: FaultPoint[] = []

  /** Every call so far, in order of arrival. */
  get calls(): readonly FaultPoint[] {
    return this.#calls
  }

  /** The next call of `point` fails and does nothing. */
  failBefore(point: FaultPoint, error: Error = ENGINE_IS_GONE): void {
    this.#script(point, { when: 'before', error })
  }

  /** The next call of `point` does its work and then fails: the answer was lost. `create` and `resume` undo their work, as every runtime does. */
  failAfter(point: FaultPoint, error: Error = ENGINE_IS_GONE): void {
    this.#script(point, { when: 'after', error })
  }

  /** The next call of `point` waits, before it does anything or after its work, until the test releases it or its caller aborts. */
  hold(point: FaultPoint, when: Script['when'] = 'before'): Hold {
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const waiting = this.#holds.get(point) ?? []
    this.#holds.set(point, [...waiting, { when, arrive: arrived.resolve, released: released.promise }])
    return { reached: arrived.promise, release: released.resolve }
  }

  /** Runs `work` as a call of `point` under what the test scripted for it. */
  async run<T>(point: FaultPoint, work: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#calls.push(point)
    signal?.throwIfAborted()
    const hold = this.#holds.get(point)?.shift()
    const script = this.#scripts.get(point)?.shift()
    const pause = async (when: Script['when']): Promise<void> => {
      if (hold?.when !== when) return
      hold.arrive()
      await (signal === undefined ? hold.released : Promise.race([hold.released, aborted(signal)]))
    }
    await pause('before')
    if (script?.when === 'before') throw script.error
    const result = await work()
    await pause('after')
    if (script?.when === 'after') throw script.error
    return result
  }

  #script(point: FaultPoint, script: Script): void {
    this.#scripts.set(point, [...(this.#scripts.get(point) ?? []), script])
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
