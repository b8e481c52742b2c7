/** One line of the answer of `/execute` (clients.md 1.10). */
export type OutputLine =
  | ({ readonly type: 'result'; readonly is_main_result: boolean } & Readonly<Record<string, unknown>>)
  /** `timestamp` is in nanoseconds, as digits, because it is beyond the whole numbers of JavaScript. */
  | { readonly type: 'stdout' | 'stderr'; readonly text: string; readonly timestamp: bigint }
  | { readonly type: 'error'; readonly name: string; readonly value: string; readonly traceback: string }
  | { readonly type: 'number_of_executions'; readonly execution_count: number }
  | { readonly type: 'keepalive' | 'end_of_execution' }

/**
 * The line as clients read it, with its end. It is ASCII: the JavaScript client decodes each chunk by itself, so characters of several
 * bytes would break between two chunks, and the Python client takes some characters beyond ASCII for ends of lines.
 */
export function encodeLine(line: OutputLine): string {
  const json =
    line.type === 'stdout' || line.type === 'stderr'
      ? `{"type":"${line.type}","text":${JSON.stringify(line.text)},"timestamp":${line.timestamp}}`
      : JSON.stringify(line)
  return `${escapeBeyondAscii(json)}\n`
}

const BEYOND_ASCII = /[\u007f-\uffff]/g

function escapeBeyondAscii(json: string): string {
  return json.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
