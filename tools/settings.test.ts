import { describe, expect, it } from 'vitest'
import { exampleEnvironment, settingGroups } from './settings.ts'

/** The lines of `.env.example`, as Compose reads them after the `#` was removed. */
const EXAMPLE = new Map(
  exampleEnvironment([])
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^#(\w+)=(.*)$/.exec(line) ?? []
      return name === undefined || value === undefined || value === '' ? [] : [[name, value] as const]
    }),
)

const withDefault = settingGroups().flatMap(({ settings }) => settings.filter(({ env }) => EXAMPLE.has(env)))

describe('.env.example', () => {
  it.each(withDefault)('has a default for $env that the setting reads', ({ env, read, fallback }) => {
    expect(read(EXAMPLE.get(env) ?? '')).toEqual(fallback)
  })
})
