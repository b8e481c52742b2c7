import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { StoredEgress } from '@sandyard/db/schema/sandbox'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { writeDecisions } from '../src/decisions/write-decisions.ts'
import { readAll, readUntil, secure } from './support/sandbox-client.ts'
import { echoTls, INTERNAL, listenEcho, listenOnPort, startEgress, type TestEgress } from './support/start-egress.ts'

const OPEN = '127.1.0.1'
const NAMED: StoredEgress = { allowOut: ['a.example.com', '127.1.0.5'], denyOut: ['0.0.0.0/0'] }

let egress: TestEgress
let echoPort = 0
const closing = new AsyncDisposableStack()

beforeAll(async () => {
  egress = closing.use(await startEgress())
  closing.use(await listenOnPort(echoTls('a.example.com'), egress.tlsPort))
  egress.dns.zone.set('a.example.com', [OPEN])
  echoPort = closing.use(await listenEcho()).port
})
afterAll(() => closing[Symbol.asyncDispose]())

function stored(
  sandboxId: string,
): Promise<{ verdict: string; rule: string; name: string | null; address: string; port: number; connections: number }[]> {
  return egress.database.db
    .selectFrom('sandbox_egress')
    .select(['verdict', 'rule', 'name', 'address', 'port', 'connections'])
    .where('sandbox_id', '=', sandboxId)
    .orderBy('rule')
    .orderBy('connections')
    .execute()
}

it('keeps each decision with its rule, equal ones as one row with their count, and counts all in the metrics', async () => {
  const source = '127.9.7.1'
  await egress.addSandbox('i1', source, NAMED)
  const tls = { address: OPEN, port: egress.tlsPort }
  for (let i = 0; i < 3; i += 1) {
    const secured = await secure(await egress.dial(source, tls), { servername: 'a.example.com' })
    await readUntil(secured, '\n')
    secured.destroy()
    await expect(secure(await egress.dial(source, tls), { servername: 'b.example.com' })).rejects.toThrow('closed')
  }
  const direct = await egress.dial(source, { address: '127.1.0.5', port: echoPort })
  direct.end('hello')
  expect(await readAll(direct)).toBe('hello')
  expect(await readAll(await egress.dial(source, { address: INTERNAL, port: echoPort }))).toBe('')
  await expect.poll(async () => (await stored('i1')).reduce((sum, { connections }) => sum + connections, 0)).toBe(8)
  const sums = new Map<string, number>()
  for (const { verdict, rule, name, address, port, connections } of await stored('i1')) {
    const key = [verdict, rule, name, address, port].join(' ')
    sums.set(key, (sums.get(key) ?? 0) + connections)
  }
  expect([...sums]).toEqual(
    expect.arrayContaining([
      [`allow allow_domain a.example.com ${OPEN} ${egress.tlsPort}`, 3],
      [`deny deny b.example.com ${OPEN} ${egress.tlsPort}`, 3],
      [`allow allow_address  127.1.0.5 ${echoPort}`, 1],
      [`deny always_closed  ${INTERNAL} ${echoPort}`, 1],
    ]),
  )
  expect(await egress.metric('sandyard_egress_connections_total', { verdict: 'allow', rule: 'allow_domain' })).toBe(3)
  expect(await egress.metric('sandyard_egress_connections_total', { verdict: 'deny', rule: 'deny' })).toBe(3)
})

it('stores decisions later that the database does not take at once', async () => {
  const lines: string[] = []
  const log = createLogger({ name: 'test', level: 'error', destination: { write: (line) => void lines.push(line) } })
  await using own = await startEgress({ log })
  const source = '127.9.7.9'
  await own.addSandbox('i9', source, NAMED)
  const { db } = own.database
  await db.schema.alterTable('sandbox_egress').renameTo('sandbox_egress_away').execute()
  expect(await readAll(await own.dial(source, { address: INTERNAL, port: echoPort }))).toBe('')
  await expect.poll(() => lines.join('')).toContain('"loop":"egress-decisions"')
  await db.schema.alterTable('sandbox_egress_away').renameTo('sandbox_egress').execute()
  const rows = () => db.selectFrom('sandbox_egress').select(['rule', 'connections']).where('sandbox_id', '=', 'i9').execute()
  await expect.poll(rows).toEqual([{ rule: 'always_closed', connections: 1 }])
})

it('stores at its end what it could not store before, and the newest decisions', async () => {
  const lines: string[] = []
  const log = createLogger({ name: 'test', level: 'error', destination: { write: (line) => void lines.push(line) } })
  await using own = await startEgress({ log })
  const source = '127.9.7.8'
  await own.addSandbox('i8', source, NAMED)
  const { db } = own.database
  await db.schema.alterTable('sandbox_egress').renameTo('sandbox_egress_away').execute()
  expect(await readAll(await own.dial(source, { address: INTERNAL, port: echoPort }))).toBe('')
  await expect.poll(() => lines.join('')).toContain('"loop":"egress-decisions"')
  expect(await readAll(await own.dial(source, { address: INTERNAL, port: echoPort + 1 }))).toBe('')
  await db.schema.alterTable('sandbox_egress_away').renameTo('sandbox_egress').execute()
  await own.upkeep[Symbol.asyncDispose]()
  const rows = await db.selectFrom('sandbox_egress').select('port').where('sandbox_id', '=', 'i8').orderBy('egress_id').execute()
  expect(rows).toEqual([{ port: echoPort }, { port: echoPort + 1 }])
})

it('stores the decisions of all sandboxes but those of a deleted team, once when the write is repeated', async () => {
  await egress.addSandbox('i4', '127.9.7.4', {})
  const { db } = egress.database
  const { team_id: teamId } = await db.selectFrom('sandbox').select('team_id').where('sandbox_id', '=', 'i4').executeTakeFirstOrThrow()
  const row = (port: number, more: object = {}) =>
    ({
      sandboxId: 'i4',
      teamId,
      verdict: 'allow',
      rule: 'default',
      name: undefined,
      address: OPEN,
      port,
      lastAt: new Date(),
      count: 1,
      ...more,
    }) as const
  const many = Array.from({ length: 700 }, (_, port) => row(port))
  // The check of the table refuses a row of the second chunk.
  await expect(writeDecisions(db, [...many, row(700, { count: 0 })], 1000)).rejects.toThrow('check')
  expect(await stored('i4')).toEqual([])
  await writeDecisions(db, [row(701, { teamId: randomUUID() }), ...many], 1000)
  expect((await stored('i4')).map(({ port }) => port).sort((a, b) => a - b)).toEqual(many.map(({ port }) => port))
})

it('keeps the newest rows of each sandbox up to the cap, and those of others', async () => {
  await egress.addSandbox('i2', '127.9.7.2', {})
  await egress.addSandbox('i3', '127.9.7.3', {})
  const { team_id: teamId } = await egress.database.db
    .selectFrom('sandbox')
    .select('team_id')
    .where('sandbox_id', '=', 'i2')
    .executeTakeFirstOrThrow()
  const row = (sandboxId: string, port: number) =>
    ({ sandboxId, teamId, verdict: 'allow', rule: 'default', name: undefined, address: OPEN, port, lastAt: new Date(), count: 1 }) as const
  await writeDecisions(egress.database.db, [row('i3', 1), row('i3', 2)], 10)
  for (let at = 0; at < 30; at += 10) {
    await writeDecisions(
      egress.database.db,
      Array.from({ length: 10 }, (_, i) => row('i2', at + i)),
      15,
    )
  }
  expect((await stored('i2')).map(({ port }) => port).sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => 15 + i))
  expect(await stored('i3')).toHaveLength(2)
})
