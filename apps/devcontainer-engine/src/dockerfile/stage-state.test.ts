import { describe, expect, it } from 'vitest'
import { StageState } from './stage-state.ts'

describe('StageState', () => {
  it('starts from image or stage, with the arguments of the stage and a PATH', () => {
    const base = new StageState({ config: {} })
    base.args.set('A', 'one')
    base.shell = ['/bin/bash', '-c']
    const state = new StageState({ config: base.toConfig(), args: base.args })
    expect([state.lookup('A'), state.lookup('PATH'), state.shell]).toEqual([
      'one',
      expect.stringContaining('/usr/bin'),
      ['/bin/bash', '-c'],
    ])
    expect(new StageState({ config: { Env: ['PATH=/own', 'A=hides'] }, args: base.args }).lookup('A')).toBe('hides')
  })

  it('drops the command of the base with a new entry point, and keeps its own', () => {
    const state = new StageState({ config: { Cmd: ['of the base'] } })
    state.setEntrypoint(['entry'])
    expect(state.toConfig()).toMatchObject({ Entrypoint: ['entry'], Cmd: null })
    state.setCmd(['own'])
    state.setEntrypoint(['other'])
    expect(state.toConfig()).toMatchObject({ Entrypoint: ['other'], Cmd: ['own'] })
  })
})
