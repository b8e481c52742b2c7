import { describe, expect, it } from 'vitest'
import type { BuildPlan, BuildStep } from '../build-plan.ts'
import { layerTitle, planLayers } from './layer-plan.ts'

const run = (command: string, force = false): BuildStep => ({ type: 'RUN', args: [command], force })
const PLAN: BuildPlan = {
  source: { kind: 'image', reference: 'debian:stable' },
  steps: [run('one'), run('two'), run('three')],
  force: false,
  startCmd: 'serve',
}
const ALL = 6

describe('planLayers', () => {
  it('names base, default user, steps and finalize', () => {
    const layers = planLayers(PLAN, 'v2.1.0')
    expect(layers.map(({ step }) => step)).toEqual(['base', 'base', '1', '2', '3', 'finalize'])
    expect(layers.map(layerTitle)).toEqual([
      expect.stringMatching(/^\[base] FROM debian:stable \[[0-9a-f]{12}]$/),
      expect.stringMatching(/^\[base] DEFAULT USER user \[/),
      expect.stringMatching(/^\[builder 1\/3] RUN one \[/),
      expect.stringMatching(/^\[builder 2\/3] RUN two \[/),
      expect.stringMatching(/^\[builder 3\/3] RUN three \[/),
      expect.stringMatching(/^\[finalize] Finalizing template build \[/),
    ])
  })

  it.each<[string, Partial<BuildPlan>, number]>([
    ['nothing', {}, ALL],
    ['the last step', { steps: [run('one'), run('two'), run('3')] }, 4],
    ['the first step', { steps: [run('1'), run('two'), run('three')] }, 2],
    ['the spelling of a step type', { steps: [{ ...run('one'), type: 'run' }, run('two'), run('three')] }, ALL],
    ['the user of a step', { steps: [run('one'), { ...run('two'), args: ['two', 'root'] }, run('three')] }, 3],
    ['the start command', { startCmd: 'serve --loud' }, 5],
    ['a ready command', { readyCmd: '' }, 5],
    ['the image', { source: { kind: 'image', reference: 'debian:12' } }, 0],
    ['the source', { source: { kind: 'template', reference: 'debian:stable', buildId: 'debian:stable' } }, 0],
  ])('keeps the keys before the change: %s', (_, change, same) => {
    const before = planLayers(PLAN, 'v2.1.0').map(({ key }) => key)
    const after = new Set(planLayers({ ...PLAN, ...change }, 'v2.1.0').map(({ key }) => key))
    expect(before.findIndex((key) => !after.has(key))).toBe(same === ALL ? -1 : same)
  })

  it('makes different keys for arguments that join to the same text', () => {
    const [a, b] = [
      ['x y', 'z'],
      ['x', 'y z'],
    ].map((args) => planLayers({ ...PLAN, steps: [{ type: 'ENV', args, force: false }] }, 'v1').at(-1))
    expect(a?.key).not.toBe(b?.key)
  })

  it.each<[string, Partial<BuildPlan>, number]>([
    ['nothing', {}, ALL],
    ['a step', { steps: [run('one'), run('two', true), run('three')] }, 3],
    ['the build', { force: true }, 0],
  ])('does not cache the forced step and those after it: %s', (_, change, cacheable) => {
    const flags = planLayers({ ...PLAN, ...change }, 'v2.1.0').map(({ isCacheable }) => isCacheable)
    expect(flags).toEqual(flags.map((_, at) => at < cacheable))
  })

  it('adds the default user only for images and the newest builder', () => {
    expect(planLayers(PLAN, 'v2.0.0')).toHaveLength(ALL - 1)
    expect(planLayers({ ...PLAN, source: { kind: 'template', reference: 'x', buildId: 'y' } }, 'v2.1.0')).toHaveLength(ALL - 1)
  })
})
