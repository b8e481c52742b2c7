import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type { Keep, Resumed, SandboxEndpoint } from '../types.ts'
import type { FakeEngine, FakeSandbox } from './fake-engine.ts'

export function pauseFake(engine: FakeEngine, sandbox: FakeSandbox, keep: Keep): void {
  if (keep === 'files') {
    if (sandbox.state !== 'stopped') engine.setState(sandbox, 'stopped', 'exited')
    return
  }
  if (sandbox.state === 'stopped') throw new AppError('failed_precondition', 'This sandbox has ended.')
  if (sandbox.state === 'running') engine.setState(sandbox, 'frozen', 'frozen')
}

export interface FakeResume {
  readonly keep: Keep
  /** The start of the processes that the pause kept. */
  readonly pausedStartId: unknown
  readonly start: () => Promise<SandboxEndpoint>
  /** Receives what undoes the steps of this call. */
  readonly undo: (() => void)[]
  readonly signal: AbortSignal | undefined
}

export async function resumeFake(engine: FakeEngine, sandbox: FakeSandbox, request: FakeResume): Promise<Resumed> {
  await nextTurn()
  request.signal?.throwIfAborted()
  if (sandbox.state === 'frozen' && request.keep === 'memory' && sandbox.startId === request.pausedStartId) {
    engine.setState(sandbox, 'running', 'thawed')
    request.undo.push(() => engine.setState(sandbox, 'frozen', 'frozen'))
  } else if (sandbox.state !== 'running') {
    if (sandbox.state === 'frozen') engine.setState(sandbox, 'stopped', 'exited')
    const endpoint = await request.start()
    request.signal?.throwIfAborted()
    if (hasStopped(sandbox)) {
      Object.assign(sandbox, { endpoint, startId: randomId(12), state: 'running' })
      request.undo.push(() => engine.setState(sandbox, 'stopped', 'exited'))
    }
  }
  return { endpoint: sandbox.endpoint, restored: sandbox.startId === request.pausedStartId ? 'memory' : 'files' }
}

/** A concurrent resume may have started it. */
function hasStopped({ state }: FakeSandbox): boolean {
  return state === 'stopped'
}
