import { expect, it } from 'vitest'
import { answerKind } from './answer-kind.ts'

const on = (port: number, path: string) => answerKind({ place: { sandboxId: 'i1', port }, path })

it('tells the start of a process from other calls of the daemon and from other ports', () => {
  expect(on(49_983, '/process.Process/Start')).toBe('process_start')
  expect(on(49_983, '/process.Process/Start?x=1')).toBe('process_start')
  expect(on(49_983, '/process.Process/StartAll')).toBe('daemon')
  expect(on(49_983, '/files?path=%2Fa')).toBe('daemon')
  expect(on(3000, '/process.Process/Start')).toBe('port')
})
