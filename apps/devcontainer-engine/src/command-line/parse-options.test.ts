import { describe, expect, it } from 'vitest'
import { flag, parseOptions, parsePairs, value } from './parse-options.ts'

const run = {
  command: 'docker run',
  options: { env: value('-e', '--env'), detach: flag('-d', '--detach'), sigProxy: flag('--sig-proxy') },
  stopsAtWord: true,
}

describe('parseOptions', () => {
  it('takes the values of all spellings in their order, and leaves what follows the first word', () => {
    const options = parseOptions(run, ['-e', 'A=1', '--env=B=2=3', '--env', 'C', '-d', 'image', '-e', 'x'])
    expect([options.all('env'), options.has('detach'), options.words]).toEqual([['A=1', 'B=2=3', 'C'], true, ['image', '-e', 'x']])
  })

  it('takes a flag with =false as not given', () => {
    expect(parseOptions(run, ['--sig-proxy=false']).has('sigProxy')).toBe(false)
    expect(parseOptions(run, ['--sig-proxy']).has('sigProxy')).toBe(true)
  })

  it('takes all after -- as words', () => {
    expect(parseOptions({ ...run, stopsAtWord: false }, ['-d', '--', '-e']).words).toEqual(['-e'])
  })

  it('refuses an option that it does not know, and names it', () => {
    expect(() => parseOptions(run, ['--privileged', 'image'])).toThrow(/^docker run: the option --privileged is not supported/)
    expect(() => parseOptions(run, ['--cap-add=SYS_ADMIN'])).toThrow(/the option --cap-add is not supported/)
    expect(() => parseOptions(run, ['-it', 'image'])).toThrow(/the option -it is not supported/)
  })

  it('refuses an option without its value', () => {
    expect(() => parseOptions(run, ['-e'])).toThrow('docker run: the option -e needs a value')
  })
})

describe('parsePairs', () => {
  it('splits at the first =, and takes a name alone from the caller', () => {
    expect(parsePairs('docker run', ['A=1=2', 'B=', 'C', 'D'], { C: 'three' })).toEqual({ A: '1=2', B: '', C: 'three' })
  })

  it('refuses what has no name', () => {
    expect(() => parsePairs('docker run', ['=x'])).toThrow("docker run: '=x' is not KEY=value")
  })
})
