import { setTimeout as delay } from 'node:timers/promises'
import { Code, ConnectError } from '@connectrpc/connect'
import { Signal, type StartRequestSchema } from '@sandyard/daemon-protocol/process/process_pb'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { getSandbox } from '../sandboxes.ts'
import { daemonFailure } from './daemon-failure.ts'
import type { ProcessEnd } from './exit-status.ts'
import type { Daemon } from './open-daemon.ts'

export interface ProcessRun {
  readonly request: MessageInitShape<typeof StartRequestSchema>
  /** Called once, when the process runs. */
  readonly onStart: (pid: number) => void
  readonly onOutput: (bytes: Uint8Array, stream: 'stdout' | 'stderr' | 'pty') => Promise<void>
}

/** How long a process may take to end after SIGTERM before it is killed. */
const GRACE_MS = 2000

/**
 * Starts a process in a sandbox and follows it to its end. The daemon would let it run when its reader leaves, so an interrupted command
 * ends it first.
 *
 * @throws CliFailure; the reason of the abort
 */
export async function followProcess(parts: CliParts, daemon: Daemon, { request, onStart, onOutput }: ProcessRun): Promise<ProcessEnd> {
  const left = new AbortController()
  let pid: number | undefined
  const stop = async (): Promise<void> => {
    // A shell on a terminal ignores SIGTERM.
    const signals = request.pty === undefined ? [Signal.SIGTERM, Signal.SIGKILL] : [Signal.SIGKILL]
    if (pid !== undefined) await endProcess(daemon, pid, { signals, ended: left.signal })
    left.abort()
  }
  const onAbort = (): void => void stop()
  parts.signal.addEventListener('abort', onAbort, { once: true })
  try {
    parts.signal.throwIfAborted()
    for await (const { event } of daemon.process.start(request, { signal: left.signal })) {
      const told = event?.event
      if (told?.case === 'start') {
        pid = told.value.pid
        onStart(pid)
      } else if (told?.case === 'data' && told.value.output.case !== undefined) {
        await onOutput(told.value.output.value, told.value.output.case)
      } else if (told?.case === 'end') {
        parts.signal.throwIfAborted()
        return { exitCode: told.value.exitCode, status: told.value.status }
      }
    }
    throw new ConnectError('The sandbox closed the connection before the command ended', Code.Aborted)
  } catch (err) {
    parts.signal.throwIfAborted()
    throw pid === undefined ? daemonFailure(err) : await explainLoss(parts, daemon, err)
  } finally {
    parts.signal.removeEventListener('abort', onAbort)
    left.abort()
  }
}

interface Ending {
  readonly signals: readonly Signal[]
  /** Aborts when the stream of the process has ended. */
  readonly ended: AbortSignal
}

/** Sends the signals in turn until the process has ended. */
async function endProcess({ process }: Daemon, pid: number, { signals, ended }: Ending): Promise<void> {
  const selector = { selector: { case: 'pid', value: pid } } as const
  for (const signal of signals) {
    if (ended.aborted) return
    // It may have ended meanwhile, or the sandbox is out of reach; then nothing is left to do.
    await process.sendSignal({ process: selector, signal }, { timeoutMs: GRACE_MS }).catch(() => undefined)
    await delay(GRACE_MS, undefined, { signal: ended }).catch(() => undefined)
  }
}

/** Why the stream of a running process broke: its sandbox ended or was paused, else what the connection says. */
async function explainLoss({ api }: CliParts, { sandboxID }: Daemon, error: unknown): Promise<unknown> {
  const found = await getSandbox(api, sandboxID).catch((err: unknown) => err)
  if (found instanceof CliFailure && found.exitCode === EXIT.notFound) {
    return new CliFailure(EXIT.failed, `The sandbox ${sandboxID} has ended.`, { cause: error })
  }
  if (!(found instanceof Error) && (found as { state?: string }).state === 'paused') {
    return new CliFailure(EXIT.failed, `The sandbox ${sandboxID} was paused: the command goes on when it is resumed.`, { cause: error })
  }
  return daemonFailure(error)
}
