import { expect, it } from 'vitest'
import { readDoctorReport } from './doctor-report.ts'

const check = { id: 'K1', title: 'Kernel', level: 'warn', found: 'a\0b\uD800', why: 'w', todo: null, commands: ['uname -r'] }

it('reads the checks of a report, with texts that the database can keep', () => {
  const report = { ok: true, counts: {}, checks: [{ ...check, group: 'Kernel', ms: 3, later: true }] }
  expect(readDoctorReport(JSON.stringify(report))).toEqual([{ ...check, found: 'a\uFFFDb\uFFFD' }])
})

it.each(['', 'no JSON', '{}', '[]', '{"checks":[{}]}', JSON.stringify({ checks: [{ ...check, level: 'worse' }] })])(
  'refuses %j',
  (text) => {
    expect(() => readDoctorReport(text)).toThrow(expect.objectContaining({ kind: 'bad_gateway' }))
  },
)
