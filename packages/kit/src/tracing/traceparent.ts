/** The place of a span in a trace, as W3C Trace Context writes it. */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  readonly flags: number
}

const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Undefined for text that is not well-formed. A later version may have more fields, which are ignored. */
export function parseTraceparent(text: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, rest] = FORM.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (version === '00' && rest !== undefined) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

export function formatTraceparent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
}
