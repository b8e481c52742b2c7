import { describe, expect, it } from 'vitest'
import { FlagError, parseFlags } from './flags.ts'

const defaults = { port: 49_983, host: '0.0.0.0', version: false, commit: false }

describe('parseFlags', () => {
  it.each([
    [[], {}],
    [['-port', '8080'], { port: 8080 }],
    [['--port=8080', '-host', '127.0.0.1'], { port: 8080, host: '127.0.0.1' }],
    [['-version'], { version: true }],
    [['--version=false', '-commit'], { commit: true }],
    [['-isnotfc', '-verbose', '-no-cgroups', '-cgroup-root', '/x', '-port', '1'], { port: 1 }],
  ])('%j', (args, expected) => {
    expect(parseFlags(args)).toEqual({ ...defaults, ...expected })
  })

  it.each([[['-nope']], [['port']], [['-port', 'x']], [['-port']], [['-port=70000']], [['-']]])('%j is refused', (args) => {
    expect(() => parseFlags(args)).toThrow(FlagError)
  })
})
