import type { IIOPubMessage } from '@jupyterlab/services/lib/kernel/messages.js'
import { describe, expect, test } from 'vitest'
import { toLines } from './cell-output.ts'
import { encodeLine } from './output-line.ts'

const DATE = '2026-01-02T03:04:05.678Z'

function linesOf(type: string, content: unknown, quotes: readonly string[] = ["'"]): Record<string, unknown>[] {
  const message = { header: { msg_type: type, date: DATE }, content } as unknown as IIOPubMessage
  return [...toLines(message, quotes)].map((line) => {
    const encoded = encodeLine(line)
    expect(encoded).toMatch(/^[ -~]+\n$/)
    return JSON.parse(encoded) as Record<string, unknown>
  })
}

describe('a message of a kernel', () => {
  test('about printed text is one line with the time in nanoseconds', () => {
    expect(linesOf('stream', { name: 'stderr', text: 'é\u2028😀\n' })).toEqual([
      { type: 'stderr', text: 'é\u2028😀\n', timestamp: Date.parse(DATE) * 1e6 },
    ])
  })

  test('about much text is several lines that are the text together', () => {
    const text = `${'x'.repeat(64 * 1024 - 1)}😀${'y'.repeat(200_000)}`
    const lines = linesOf('stream', { name: 'stdout', text })
    expect(lines.length).toBeGreaterThan(3)
    expect(lines.map((line) => line['text']).join('')).toBe(text)
    expect(lines.every((line) => !/[\ud800-\udbff]$/.test(String(line['text'])))).toBe(true)
  })

  test('about a result has the kinds that clients know, and others for both clients', () => {
    const data = {
      'text/plain': "'a string'",
      'image/png': 'iVBO',
      'application/json': [1],
      'e2b/chart': { type: 'line' },
      'application/vnd.plotly.v1+json': { data: [] },
    }
    expect(linesOf('execute_result', { data })).toEqual([
      {
        type: 'result',
        is_main_result: true,
        text: 'a string',
        png: 'iVBO',
        json: [1],
        chart: { type: 'line' },
        extra: { 'application/vnd.plotly.v1+json': { data: [] } },
        'application/vnd.plotly.v1+json': { data: [] },
      },
    ])
  })

  test('about a figure without a chart has none, and displayed data is not the main result', () => {
    expect(linesOf('display_data', { data: { 'text/plain': '<Figure>', 'e2b/chart': {} } })).toEqual([
      { type: 'result', is_main_result: false, text: '<Figure>' },
    ])
  })

  test('keeps the quotes that do not belong together, and those of other languages', () => {
    expect(linesOf('execute_result', { data: { 'text/plain': `'a"` } }, ["'", '"'])[0]).toMatchObject({ text: `'a"` })
    expect(linesOf('execute_result', { data: { 'text/plain': '"a"' } })[0]).toMatchObject({ text: '"a"' })
    expect(linesOf('execute_result', { data: { 'text/plain': '"a"' } }, ['"'])[0]).toMatchObject({ text: 'a' })
  })

  test('about an error has the traceback as one text', () => {
    expect(linesOf('error', { ename: 'ValueError', evalue: 'no', traceback: ['a', 'b'] })).toEqual([
      { type: 'error', name: 'ValueError', value: 'no', traceback: 'a\nb' },
    ])
  })

  test('about the beginning of a cell has its number, and other messages are no lines', () => {
    expect(linesOf('execute_input', { code: 'x', execution_count: 7 })).toEqual([{ type: 'number_of_executions', execution_count: 7 }])
    expect(linesOf('status', { execution_state: 'idle' })).toEqual([])
    expect(linesOf('update_display_data', { data: {} })).toEqual([])
  })
})
