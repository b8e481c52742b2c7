import { equal, match } from 'node:assert/strict'
import { CONFINED, Container, docker } from './container.ts'

const IMAGE = 'postgres:18.4-bookworm'
const VOLUME = '/var/lib/postgresql'
const SOCKET_ONLY = ['-c', 'listen_addresses=', '-c', 'max_connections=50']
const AS_POSTGRES = [...CONFINED, '--user', 'postgres', '--tmpfs', '/tmp', '--tmpfs', '/var/run/postgresql:mode=3777,uid=999,gid=999']
const SETTINGS = [
  'POSTGRES_USER=sandyard',
  'POSTGRES_PASSWORD=secret',
  'POSTGRES_DB=two "words"',
  'POSTGRES_INITDB_ARGS=--locale=C --encoding=UTF8',
]
const ENVIRONMENT = SETTINGS.flatMap((setting) => ['--env', setting])

const query = (sql: string): string[] => ['psql', '-U', 'sandyard', '-d', 'two "words"', '-Atc', sql]

async function runsWithoutRights(): Promise<void> {
  await using container = new Container()
  await container.start(IMAGE, { volume: VOLUME, flags: [...AS_POSTGRES, ...ENVIRONMENT], command: SOCKET_ONLY })
  const facts = `select current_setting('listen_addresses'), current_setting('max_connections'), current_setting('data_directory'), datcollate, rolsuper
    from pg_database, pg_roles where datname = current_database() and rolname = current_user`
  equal(await container.whenOk(...query(facts)), '|50|/var/lib/postgresql/18/docker|C|t')
  await container.exec(...query('create table kept (x int)'))
  await docker('stop', container.name)
  equal(await container.exitCode(), 0)
  match(await container.logs(), /received fast shutdown request/)
  await docker('start', container.name)
  equal(await container.whenOk(...query('select count(*) from kept')), '0')
}

async function stepsDownFromRoot(): Promise<void> {
  await using container = new Container()
  await container.start(IMAGE, { volume: VOLUME, flags: ENVIRONMENT })
  await container.whenOk(...query('select 1'))
  match(await container.exec('cat', '/proc/1/status'), /Uid:\t999\t999\t999\t999[^]*CapEff:\t0000000000000000/)
  const host = await container.address()
  const dial = (password: string): Promise<string> =>
    docker('run', '--rm', '--env', `PGPASSWORD=${password}`, IMAGE, ...query('select 42'), '-h', host)
  equal(await dial('secret'), '42')
  match(await dial('wrong').catch((err: Error) => err.message), /password authentication failed/)
}

/** Kills the container at several moments of the making of the cluster, or after it if that is over before. */
async function beginsAgainAfterAKill(): Promise<void> {
  const folder = '/var/lib/postgresql/18'
  for (const sign of ['docker.new', 'docker.new/PG_VERSION', 'docker.new/base/5']) {
    await using container = new Container()
    await container.start(IMAGE, { volume: VOLUME, flags: ENVIRONMENT })
    await container.whenOk('sh', '-c', `[ -e ${folder}/${sign} ] || [ -e ${folder}/docker/PG_VERSION ]`)
    await docker('kill', container.name)
    await docker('start', container.name)
    await container.whenOk(...query('select 1'))
    equal(await container.exec('ls', folder), 'docker')
  }
}

async function refusesWhatItCannotDo(): Promise<void> {
  const cases = [
    [[], /POSTGRES_PASSWORD is not set/],
    [['--env', 'POSTGRES_PASSWORD=x', '--env', 'POSTGRES_INITDB_ARGS=--nonsense'], /unrecognized option/],
    [['--env', 'POSTGRES_PASSWORD=x', '-v', '/etc/hostname:/docker-entrypoint-initdb.d/a.sql:ro'], /not supported by this stand-in/],
    [['--env', 'POSTGRES_PASSWORD_FILE=/absent'], /\/absent, which cannot be read/],
  ] as const
  for (const [flags, sentence] of cases) {
    await using container = new Container()
    await container.start(IMAGE, { volume: VOLUME, flags })
    equal(await container.exitCode(), 1)
    match(await container.logs(), sentence)
  }
}

export const POSTGRES_TRIALS = {
  'postgres runs as its user, read-only, without capabilities, on a socket only, stops fast and keeps its data': runsWithoutRights,
  'postgres started as root steps down, and asks for the password over TCP': stepsDownFromRoot,
  'postgres that was killed while its cluster was made begins again': beginsAgainAfterAKill,
  'postgres refuses what it cannot do': refusesWhatItCannotDo,
}
