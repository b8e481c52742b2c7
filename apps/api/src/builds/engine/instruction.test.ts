import { describe, expect, it } from 'vitest'
import { toInstruction } from './instruction.ts'

describe('toInstruction', () => {
  it.each([
    ['RUN', ['make'], { type: 'RUN', command: 'make', user: undefined }],
    ['run', ['make', ''], { type: 'RUN', command: 'make', user: undefined }],
    ['Run', ['make', 'root'], { type: 'RUN', command: 'make', user: 'root' }],
    [
      'ENV',
      ['A', '1', 'B', ''],
      {
        type: 'ENV',
        pairs: [
          ['A', '1'],
          ['B', ''],
        ],
      },
    ],
    ['ARG', ['A', '1'], { type: 'ENV', pairs: [['A', '1']] }],
    ['WORKDIR', ['/app'], { type: 'WORKDIR', path: '/app' }],
    ['USER', ['web'], { type: 'USER', name: 'web', sudo: false }],
    ['USER', ['web', 'true'], { type: 'USER', name: 'web', sudo: true }],
  ])('%s %j', (type, args, expected) => {
    expect(toInstruction({ type, args, force: false }, '1')).toEqual(expected)
  })

  it.each([['COPY'], ['ADD']])('%s', (type) => {
    const step = { type, args: ['src', '/dst', 'web:web', '0644'], filesHash: 'abc', force: false }
    const args = { source: 'src', destination: '/dst', owner: 'web:web', mode: '0644' }
    expect(toInstruction(step, '1')).toEqual({ type: 'COPY', filesHash: 'abc', args })
    expect(toInstruction({ ...step, args: ['src', '/dst'] }, '1')).toMatchObject({ args: { owner: '', mode: '' } })
  })

  it.each([
    ['RUN', [], 'RUN requires command argument'],
    ['COPY', ['a'], 'COPY requires a local path and a container path argument'],
    ['COPY', ['a', 'b'], 'COPY requires files hash to be set'],
    ['ENV', [], 'ENV does not support passing no arguments'],
    ['ENV', ['A'], 'ENV requires both a key and value arguments'],
    ['ENV', ['A=B', '1'], 'ENV key "A=B" is not a name of a variable'],
    ['WORKDIR', [], 'WORKDIR requires a path argument'],
    ['USER', [''], 'USER requires a username argument'],
    // Wire text for an unknown step type (control-plane.md 11.4).
    ['Expose', ['80'], 'command type Expose is not implemented'],
  ])('refuses %s %j', (type, args, message) => {
    expect(() => toInstruction({ type, args, force: false }, '3')).toThrow(expect.objectContaining({ message, step: '3' }))
  })
})
