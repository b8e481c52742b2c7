import type { IIOPubMessage } from '@jupyterlab/services/lib/kernel/messages.js'
import type { OutputLine } from './output-line.ts'
import { toResult } from './to-result.ts'

/** Longer pieces of printed text come as several lines: clients search each line for its end again with each chunk of it. */
const PIECE_LENGTH = 64 * 1024

/**
 * What a message of a kernel is on the wire: no line, one line, or several for a long text.
 *
 * @param quotes around strings that are results, of the language of the kernel
 */
export function* toLines({ header, content }: IIOPubMessage, quotes: readonly string[]): Generator<OutputLine> {
  const body = content as Readonly<Record<string, unknown>>
  // Most types are not for clients.
  const type: string = header.msg_type
  switch (type) {
    case 'stream':
      yield* toStreamLines(body['name'] === 'stderr' ? 'stderr' : 'stdout', String(body['text']), header.date)
      return
    case 'display_data':
    case 'execute_result':
      yield toResult(body['data'] as Record<string, unknown>, { isMainResult: type === 'execute_result', quotes })
      return
    case 'error':
      yield {
        type: 'error',
        name: String(body['ename']),
        value: String(body['evalue']),
        traceback: (body['traceback'] as readonly string[]).join('\n'),
      }
      return
    case 'execute_input':
      yield { type: 'number_of_executions', execution_count: Number(body['execution_count']) }
      return
    default:
  }
}

function* toStreamLines(type: 'stdout' | 'stderr', text: string, date: string): Generator<OutputLine> {
  const ms = Date.parse(date)
  const timestamp = BigInt(Number.isNaN(ms) ? Date.now() : ms) * 1_000_000n
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + PIECE_LENGTH, text.length)
    // A pair of surrogates stays together.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    yield { type, text: text.slice(at, end), timestamp }
    at = end
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
