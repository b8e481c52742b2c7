import type { IIOPubMessage } from '@jupyterlab/services/lib/kernel/messages.js'
import { expect, test } from 'vitest'
import { DisplayedValues } from './displayed-values.ts'

const value = (text: string): [string, object] => ['display_data', { data: { 'text/plain': text } }]
const plot: [string, object] = ['display_data', { source: 'R display func', data: { 'image/png': 'iVBO' } }]
const printed: [string, object] = ['stream', { name: 'stdout', text: 'x' }]
const error: [string, object] = ['error', { ename: 'ERROR' }]
const status: [string, object] = ['status', { execution_state: 'idle' }]

function passedOn(messages: readonly [string, object][], isComplete = true): string[] {
  const values = new DisplayedValues()
  const passed = messages.flatMap(([type, content]) => values.pass({ header: { msg_type: type }, content } as unknown as IIOPubMessage))
  return [...passed, ...values.end(isComplete)].map(({ header, content }) => {
    const { data } = content as { data?: Record<string, string> }
    return `${header.msg_type} ${data?.['text/plain'] ?? ''}`.trim()
  })
}

test.each([
  ['one value', [value('1'), status], ['status', 'execute_result 1']],
  ['the last of two values', [value('1'), value('2')], ['display_data 1', 'execute_result 2']],
  ['a value before a plot, which comes at the end', [value('1'), plot], ['display_data', 'execute_result 1']],
])('%s is the result of a cell', (_, messages, passed) => {
  expect(passedOn(messages)).toEqual(passed)
})

test.each([
  ['printed text', [value('1'), printed], ['display_data 1', 'stream']],
  ['an error', [value('1'), error], ['display_data 1', 'error']],
])('a value before %s is not the result of a cell', (_, messages, passed) => {
  expect(passedOn(messages)).toEqual(passed)
})

test('a value of a cell whose kernel ended is not its result', () => {
  expect(passedOn([value('1')], false)).toEqual(['display_data 1'])
})
