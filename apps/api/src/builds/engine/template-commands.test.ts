import { describe, expect, it } from 'vitest'
import type { BuildPlan } from '../build-plan.ts'
import { templateCommands } from './template-commands.ts'

const OWN = { user: 'web', workdir: '/srv', env: { A: '2' } }
const INHERITED = { user: 'user', env: { A: '1' } }
const SOURCE = { image: 'i', context: INHERITED, startCmd: 'old', readyCmd: 'is-old', startContext: INHERITED }

describe('templateCommands', () => {
  it.each<[string, Partial<BuildPlan>, Partial<typeof SOURCE> | undefined, (string | undefined)[], object]>([
    ['none', {}, undefined, [undefined, undefined], OWN],
    ['empty ones', { startCmd: '', readyCmd: ' ' }, undefined, [undefined, undefined], OWN],
    ['a start command alone', { startCmd: 'new' }, undefined, ['new', 'sleep 20'], OWN],
    ['a ready command alone', { readyCmd: 'is-new' }, undefined, [undefined, 'is-new'], OWN],
    ['inherited ones', {}, SOURCE, ['old', 'is-old'], INHERITED],
    ['its own over inherited ones', { startCmd: 'new', readyCmd: 'is-new' }, SOURCE, ['new', 'is-new'], OWN],
    ['its own start command', { startCmd: 'new' }, SOURCE, ['new', 'is-old'], OWN],
    ['its own ready command', { readyCmd: 'is-new' }, SOURCE, ['old', 'is-new'], INHERITED],
  ])('%s', (_, plan, source, commands, context) => {
    const whole: BuildPlan = { source: { kind: 'image', reference: 'x' }, steps: [], force: false, ...plan }
    const found = templateCommands(whole, OWN, source && { ...SOURCE, ...source })
    expect([[found.startCmd, found.readyCmd], found.context]).toEqual([commands, context])
  })
})
