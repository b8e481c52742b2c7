import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SECCOMP_FILE, SECCOMP_JSON } from '@sandyard/runtime-docker/seccomp/seccomp-profile'
import { configureProfile, profileArguments } from './engine-profile.ts'

const NO_PROFILE = ['x64', 'arm64'].includes(process.arch) ? undefined : `absent here: a profile for ${process.arch}`

function newPlace(): { folder: string; configFile: string } {
  const folder = mkdtempSync(join(tmpdir(), 'engine-profile-'))
  return { folder, configFile: join(folder, 'daemon.json') }
}

it('starts an engine with the profile, unless its configuration names one', (context) => {
  if (NO_PROFILE !== undefined) return context.skip(NO_PROFILE)
  const place = newPlace()
  const file = join(place.folder, SECCOMP_FILE)
  expect(profileArguments(place)).toEqual(['--seccomp-profile', file])
  expect(readFileSync(file, 'utf8')).toBe(SECCOMP_JSON)
  writeFileSync(place.configFile, '{"debug":true}')
  expect(profileArguments(place)).toEqual(['--seccomp-profile', file])
  for (const config of ['{"seccomp-profile":"unconfined"}', 'not JSON', 'null']) {
    writeFileSync(place.configFile, config)
    expect(profileArguments(place)).toEqual([])
  }
})

it('gives the newest profile to an engine whose configuration has an older one', (context) => {
  if (NO_PROFILE !== undefined) return context.skip(NO_PROFILE)
  const place = newPlace()
  writeFileSync(
    place.configFile,
    JSON.stringify({ debug: true, 'seccomp-profile': join(place.folder, 'sandyard-seccomp-0123456789ab.json') }),
  )
  expect(profileArguments(place)).toEqual([])
  const file = join(place.folder, SECCOMP_FILE)
  expect(JSON.parse(readFileSync(place.configFile, 'utf8'))).toEqual({ debug: true, 'seccomp-profile': file })
  expect(readFileSync(file, 'utf8')).toBe(SECCOMP_JSON)
})

it('configures an engine that is going to be installed, and changes no configuration', (context) => {
  if (NO_PROFILE !== undefined) return context.skip(NO_PROFILE)
  const place = newPlace()
  configureProfile(place)
  expect(JSON.parse(readFileSync(place.configFile, 'utf8'))).toEqual({ 'seccomp-profile': join(place.folder, SECCOMP_FILE) })
  const given = newPlace()
  writeFileSync(given.configFile, '{}')
  configureProfile(given)
  expect(readFileSync(given.configFile, 'utf8')).toBe('{}')
  expect(existsSync(join(given.folder, SECCOMP_FILE))).toBe(false)
})
