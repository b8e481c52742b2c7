import { describe, expect, it } from 'vitest'
import { parseDockerfile } from './parse-dockerfile.ts'
import { planStages, type StagePlan } from './plan-stages.ts'

const plan = (source: string, options: { buildArgs?: Record<string, string>; target?: string } = {}): StagePlan =>
  planStages(parseDockerfile(source), { buildArgs: options.buildArgs ?? {}, target: options.target, platform: 'linux/amd64' })

describe('planStages', () => {
  it('takes the last stage, or the one of its name', () => {
    const source = 'FROM one AS First\nRUN a\nFROM first\nCOPY --from=0 x y\nCOPY --from=other z z'
    const { target } = plan(source)
    expect([target.index, target.base]).toMatchObject([1, { name: 'first', base: { image: 'one' } }])
    expect([...target.sources.values()]).toMatchObject([{ index: 0 }, { image: 'other' }])
    expect(plan(source, { target: 'FIRST' }).target.index).toBe(0)
  })

  it('puts arguments before the first FROM into FROM, those of the command first', () => {
    const source = 'ARG BASE=scratch\nFROM $BASE'
    expect(plan(source).target.base).toBe('scratch')
    expect(plan(source, { buildArgs: { BASE: 'debian:12' } }).target.base).toEqual({ image: 'debian:12' })
  })

  it('knows the platform', () => {
    const { target, globals } = plan('FROM --platform=$BUILDPLATFORM a-$TARGETARCH')
    expect([target.base, globals.get('TARGETPLATFORM'), globals.get('TARGETOS')]).toEqual([{ image: 'a-amd64' }, 'linux/amd64', 'linux'])
  })

  it.each([
    ['RUN x', 'Dockerfile line 1: RUN before the first FROM'],
    ['# nothing', 'The Dockerfile has no FROM'],
    ['FROM $NONE', 'Dockerfile line 1: FROM names an image by a variable that has no value'],
    ['FROM a b', 'Dockerfile line 1: FROM is not <image> [AS <name>]'],
    ['FROM --platform=linux/s390x a', 'Dockerfile line 1: this sandbox runs linux/amd64, not linux/s390x'],
  ])('refuses %j', (source, message) => {
    expect(() => plan(source)).toThrow(message)
  })

  it('refuses a target that is no stage', () => {
    expect(() => plan('FROM a', { target: 'x' })).toThrow("The Dockerfile has no stage 'x'")
  })
})
