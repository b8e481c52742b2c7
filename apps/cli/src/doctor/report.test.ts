import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { fail, warn, worstOf, type Check, type Finding } from './check.ts'
import { resultLines, summary, toReport } from './report.ts'
import type { CheckResult } from './run-checks.ts'

const check: Check = {
  id: 'X1',
  title: 'Title',
  checks: 'something',
  why: 'It matters, and the sentence that says so is longer than a narrow terminal.',
  todo: 'Do the usual.',
  run: () => Promise.reject(new Error('not run')),
}
const resultOf = (finding: Finding): CheckResult => ({ group: 'Group', check, finding, ms: 3 })
const PLAIN = { hasColours: false, width: undefined }

it('prints one line for what is ok or skipped', () => {
  expect(resultLines(resultOf({ level: 'ok', found: 'all well' }), PLAIN)).toEqual(['  X1  ok    Title: all well'])
  expect(resultLines(resultOf({ level: 'skipped', found: 'no engine' }), PLAIN)).toEqual(['  X1  skipped  Title: no engine'])
})

it('prints what was found, why it matters, what to do and the commands for the others', () => {
  const finding: Finding = { level: 'warn', found: 'too low', todo: 'Do this.', commands: ['sysctl -w a=1'] }
  expect(resultLines(resultOf(finding), PLAIN)).toEqual([
    '  X1  warn  Title: too low',
    `          why: ${check.why}`,
    '          do:  Do this.',
    '          run: sysctl -w a=1',
  ])
})

it('breaks lines at the width of a terminal, but no command', () => {
  const command = `printf ${'x'.repeat(100)}`
  const lines = resultLines(resultOf({ level: 'fail', found: 'word '.repeat(40).trim(), commands: [command] }), {
    hasColours: true,
    width: 72,
  })
  const shown = lines.map((line) => stripVTControlCharacters(line))
  expect(shown.at(-1)).toBe(`          run: ${command}`)
  expect(Math.max(...shown.slice(0, -1).map(({ length }) => length))).toBeLessThanOrEqual(72)
  expect(lines[0]).not.toBe(shown[0])
})

it('keeps escape sequences of others from the terminal', () => {
  expect(resultLines(resultOf({ level: 'ok', found: 'a\u001B[31mred\nline' }), PLAIN)).toEqual(['  X1  ok    Title: ared line'])
})

it('joins the usual advice with that of a finding when both count', () => {
  const worst = worstOf([warn('a'), warn('b', { todo: 'Do b.' })], 'ok')
  expect(toReport([resultOf(worst)]).checks[0]).toMatchObject({ found: 'a; b', todo: 'Do the usual. Do b.' })
  expect(toReport([resultOf(worstOf([warn('b', { todo: 'Do b.' }), undefined], 'ok'))]).checks[0]).toMatchObject({ todo: 'Do b.' })
})

it('takes the worst of several findings', () => {
  expect(worstOf([warn('a'), fail('b'), undefined], 'ok')).toEqual({ level: 'fail', found: 'a; b' })
  expect(worstOf([undefined], 'all well')).toEqual({ level: 'ok', found: 'all well' })
})

it('counts the levels, and is ok exactly without a failure', () => {
  const results = [resultOf({ level: 'ok', found: '' }), resultOf({ level: 'warn', found: '' })]
  expect(toReport(results)).toMatchObject({ ok: true, counts: { ok: 1, warn: 1, fail: 0, skipped: 0 } })
  expect(toReport([...results, resultOf({ level: 'fail', found: '' })])).toMatchObject({ ok: false })
  expect(summary(results, PLAIN)).toBe('1 ok, 1 warn')
})
