import { describe, expect, it } from 'vitest'
import { findSource, toServers } from './to-servers.ts'

const read = (config: object): ReturnType<typeof toServers> => toServers(JSON.stringify(config))

describe('toServers', () => {
  it('makes arguments and environment variables of the settings', () => {
    const servers = read({ filesystem: { paths: ['/a', '/b'] }, slack: { botToken: 'b', teamId: 't' } })
    expect(servers).toMatchObject([
      { name: 'filesystem', arguments: ['/a', '/b'], environment: {} },
      { name: 'slack', arguments: [], environment: { SLACK_BOT_TOKEN: 'b', SLACK_TEAM_ID: 't' } },
    ])
  })

  it('serves a repository of GitHub with its commands and variables', () => {
    const name = 'github/owner/a.repository'
    expect(read({ [name]: { runCmd: 'npm start', installCmd: 'npm ci', envs: { LEVEL: 3 } } })).toEqual([
      {
        name,
        source: { registry: 'github', repository: 'owner/a.repository', installCommand: 'npm ci', runCommand: 'npm start' },
        arguments: [],
        environment: { LEVEL: '3' },
      },
    ])
  })

  it.each([
    [{ grafana: {} }, /"grafana" is not a package of npm or PyPI.*container images/],
    [{ toString: {} }, /"toString" is not a package/],
    [{ filesystem: {} }, /"filesystem" needs the setting "paths"/],
    [{ filesystem: { paths: '/a' } }, /setting "paths" of the server "filesystem" is not a list of texts/],
    [{ brave: { apiKey: '' } }, /"brave" needs the setting "apiKey"/],
    [{ time: 3 }, /configuration of the server "time" is not an object/],
    [{ 'github/a/b': {} }, /"github\/a\/b" needs the setting "runCmd"/],
    [[], /the configuration is not an object/],
  ])('refuses %j', (config, message) => {
    expect(() => read(config)).toThrow(message)
  })

  it('refuses what is not JSON, and too many servers', () => {
    expect(() => toServers('{')).toThrow('the configuration is not JSON')
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, number) => [`github/a/${number}`, { runCmd: 'x' }]))
    expect(() => read(many)).toThrow(/32 at most/)
  })
})

it.each(['github/../..', 'github/a/..', 'github/a', 'github/a/b/c', 'github/-a/b'])('refuses the repository %s', (name) => {
  expect(() => findSource(name)).toThrow(/is not a package/)
})
