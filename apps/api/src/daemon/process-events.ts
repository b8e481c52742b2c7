import type { ProcessEvent } from '@sandyard/daemon-protocol/process/process_pb'

export type ProcessOutput = 'stdout' | 'stderr'

export type DaemonProcessEvent =
  | { readonly kind: 'start'; readonly pid: number }
  | { readonly kind: 'output'; readonly stream: ProcessOutput; readonly bytes: Uint8Array }
  /** Output of a process on a terminal. */
  | { readonly kind: 'terminal'; readonly bytes: Uint8Array }
  | { readonly kind: 'keepalive' }
  /** `exitCode` is -1 for a signal; `status` as envd.md 8.7 words it. */
  | { readonly kind: 'end'; readonly exitCode: number; readonly status: string }

/** The event of a message of `Start` or `Connect`; undefined for one without any. */
export function toProcessEvent({ event }: { readonly event?: ProcessEvent | undefined }): DaemonProcessEvent | undefined {
  const told = event?.event
  if (told?.case === 'start') return { kind: 'start', pid: told.value.pid }
  if (told?.case === 'end') return { kind: 'end', exitCode: told.value.exitCode, status: told.value.status }
  if (told?.case === 'keepalive') return { kind: 'keepalive' }
  if (told?.case !== 'data') return undefined
  const { output } = told.value
  if (output.case === 'pty') return { kind: 'terminal', bytes: output.value }
  return output.case === undefined ? undefined : { kind: 'output', stream: output.case, bytes: output.value }
}
