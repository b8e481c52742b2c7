import { Type, type Static } from 'typebox'
import type { Instant } from './api-shape.ts'
import { oneOf, sandboxId, uuid } from './request-fields.ts'

export const SignalBody = Type.Object({ signal: oneOf(['SIGTERM', 'SIGKILL']) }, { additionalProperties: false })
export type SignalBody = Static<typeof SignalBody>

export const ProcessParams = Type.Object({ sandboxId, pid: Type.Integer({ minimum: 1, maximum: 4_194_304 }) })

export interface ProcessView {
  readonly pid: number
  /** Null: the daemon does not report it. */
  readonly parentPid: number | null
  readonly tag: string | null
  readonly command: string
  readonly args: readonly string[]
  readonly user: string | null
  readonly cwd: string | null
  readonly cpuPct: number | null
  readonly memoryBytes: number | null
  readonly startedAt: Instant | null
  /** The terminal of the dashboard that it belongs to. */
  readonly terminalId: string | null
}

export interface PortView {
  readonly port: number
  readonly address: string
  readonly pid: number | null
  readonly url: string
}

/** A shell that the server keeps (`TERMINAL_KEPT_MS` without a viewer). */
export interface TerminalView {
  readonly terminalId: string
  readonly sandboxId: string
  readonly title: string
  readonly user: string
  readonly pid: number | null
  readonly cols: number
  readonly rows: number
  readonly startedAt: Instant
  readonly viewers: number
  readonly recordingId: string | null
  /** Null: it runs. */
  readonly exit: { readonly at: Instant; readonly exitCode: number | null; readonly text: string } | null
}

export const TerminalParams = Type.Object({ sandboxId, terminalId: uuid })

export interface ProcessesApi {
  'GET /sandboxes/{sandboxId}/processes': { params: { sandboxId: string }; answer: { data: readonly ProcessView[]; isCut: boolean } }
  'POST /sandboxes/{sandboxId}/processes/{pid}/signal': { params: { sandboxId: string; pid: number }; body: SignalBody; answer: undefined }
  'GET /sandboxes/{sandboxId}/ports': { params: { sandboxId: string }; answer: { data: readonly PortView[]; isCut: boolean } }
  /** Opening, attaching and typing are messages of the live socket. */
  'GET /sandboxes/{sandboxId}/terminals': { params: { sandboxId: string }; answer: { data: readonly TerminalView[] } }
  'DELETE /sandboxes/{sandboxId}/terminals/{terminalId}': { params: { sandboxId: string; terminalId: string }; answer: undefined }
}
