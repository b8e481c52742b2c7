import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Database } from '@sandyard/db/database'
import { readSealedSecrets } from '@sandyard/db/rows/read-sealed-secrets'
import { secretPlace } from '@sandyard/db/rows/secret-place'
import { Secret } from '@sandyard/kit/config/secret'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { createTestDatabase, type TestDatabase } from '@sandyard/test-kit/postgres'
import { ensureSecretsKey } from '../src/program/secrets-key.ts'
import { countByKey, resealSecrets } from '../src/secrets/reseal-secrets.ts'
import { createWorld, waitFor, type World } from './support/control-plane.ts'

const log = silentLogger()
const newKey = (): string => randomBytes(32).toString('hex')
const ringOf = (...[newest = '', ...others]: string[]): KeyRing =>
  new KeyRing([new Secret(newest), ...others.map((key) => new Secret(key))])

describe('a rotation of the key', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const [first, second, lost] = [newKey(), newKey(), newKey()]
  const counts = async (): Promise<Record<string, number>> => Object.fromEntries(await countByKey(world.database.db))
  const valueOf = async (name: string, key: string): Promise<string> => {
    const [row] = await readSealedSecrets(world.database.db, [{ teamId: world.teamId, name }])
    if (row === undefined) throw new Error('there is no such secret')
    return ringOf(key).open(secretPlace(row.secret_id, row.version), { keyId: row.key_id, sealed: row.sealed })
  }

  it('encrypts all stored versions with the new key, several passes at once, and nothing of a key that is not there', async () => {
    await using old = await world.startServer({ env: { SANDYARD_SECRETS_KEY: first } })
    for (let i = 0; i < 3; i += 1) await old.call('POST', '/secrets', { body: { name: `n${i}`, value: `value ${i}` } })
    await old.call('POST', '/secrets/n0', { body: { value: 'newer' } })
    await using other = await world.startServer({ env: { SANDYARD_SECRETS_KEY: lost } })
    await other.call('POST', '/secrets', { body: { name: 'lost', value: 'value' } })
    expect(await counts()).toEqual({ [ringOf(first).keyId]: 4, [ringOf(lost).keyId]: 1 })

    const ring = ringOf(second, first)
    const passes = await Promise.all([resealSecrets(world.database, ring), resealSecrets(world.database, ring)])
    expect(passes.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(4)
    expect(await counts()).toEqual({ [ring.keyId]: 4, [ringOf(lost).keyId]: 1 })
    expect([await valueOf('n0', second), await valueOf('n1', second)]).toEqual(['newer', 'value 1'])
    expect(await resealSecrets(world.database, ring)).toEqual({ resealed: 0, broken: 0 })
  })

  it('is completed by the loop of a server', async () => {
    const third = newKey()
    await using server = await world.startServer({
      env: { SANDYARD_SECRETS_KEY: third, SANDYARD_SECRETS_OLD_KEYS: `${second},${lost}` },
      loops: true,
    })
    await waitFor('the rotation', async () => (await counts())[ringOf(third).keyId] === 5)
    expect(await valueOf('lost', third)).toBe('value')
    expect((await server.call('GET', '/secrets/n0')).status).toBe(200)
  })

  it('leaves a value that was changed in the database, and goes on with the others', async () => {
    const [from, to] = [newKey(), newKey()]
    await using server = await world.startServer({ env: { SANDYARD_SECRETS_KEY: from } })
    for (const name of ['broken', 'whole']) await server.call('POST', '/secrets', { body: { name, value: name } })
    await world.database.db
      .updateTable('secret_version')
      .set({ sealed: Buffer.alloc(40) })
      .where('secret_id', '=', (eb) => eb.selectFrom('secret').select('secret_id').where('name', '=', 'broken'))
      .execute()
    expect(await resealSecrets(world.database, ringOf(to, from))).toEqual({ resealed: 1, broken: 1 })
    expect(await valueOf('whole', to)).toBe('whole')
  })
})

describe('the key that a server makes', () => {
  let home: TestDatabase
  let database: Database
  const folder = mkdtempSync(join(tmpdir(), 'sandyard-made-key-'))
  beforeAll(async () => {
    home = await createTestDatabase()
    database = new Database({ url: home.url, applicationName: 'test', log })
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true })
    await database[Symbol.asyncDispose]()
    await home[Symbol.asyncDispose]()
  })

  const start = async (name: string, environment: Record<string, string> = {}): Promise<string | undefined> =>
    (await ensureSecretsKey({ environment, file: join(folder, name, 'key'), database, log }))['SANDYARD_SECRETS_KEY']

  it('is made once, for its owner only, also by servers that start at the same time', async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => start('own')))
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(await start('own')).toBe(keys[0])
    expect(readFileSync(join(folder, 'own', 'key'), 'utf8').trim()).toBe(keys[0])
    expect([statSync(join(folder, 'own', 'key')).mode & 0o777, statSync(join(folder, 'own')).mode & 0o777]).toEqual([0o600, 0o700])
  })

  it('is not replaced when it is lost, and not made on a second host', async () => {
    expect(await start('elsewhere')).toBeUndefined()
    expect(await start('elsewhere')).toBeUndefined()
    expect(() => statSync(join(folder, 'elsewhere', 'key'))).toThrow('ENOENT')
  })

  it('gives way to a key of the operator', async () => {
    const given = newKey()
    expect(await start('elsewhere', { SANDYARD_SECRETS_KEY: given })).toBe(given)
    expect(await start('elsewhere', { SANDYARD_SECRETS_KEY_COMMAND: `echo ${given}` })).toBe(given)
  })

  it('gives way to a command that hangs, which ends the start', async () => {
    await expect(start('own', { SANDYARD_SECRETS_KEY_COMMAND: 'sleep 600' })).rejects.toThrow(
      'SANDYARD_SECRETS_KEY_COMMAND took longer than 10 s',
    )
  })
})
