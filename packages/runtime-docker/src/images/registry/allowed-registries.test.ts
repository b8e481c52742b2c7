import { describe, expect, it } from 'vitest'
import { parseImageReference } from '../image-reference.ts'
import { AllowedRegistries } from './allowed-registries.ts'

const reference = (registry: string) => parseImageReference(`${registry}/team/app:v1`)
const at = (...addresses: string[]) => ({ [`registry.example`]: addresses })

/** Checks with these answers of the name service; names without one do not exist. */
function check(registry: string, listed: string[] = [], answers: Readonly<Record<string, string[]>> = {}): Promise<void> {
  const registries = new AllowedRegistries(listed, async (hostname) => {
    const addresses = answers[hostname]
    if (addresses === undefined) throw new Error('ENOTFOUND')
    return addresses.map((address) => ({ address }))
  })
  return registries.check(reference(registry))
}

describe('the registries that builds may use', () => {
  it.each([
    '127.0.0.1:5000',
    'localhost:5000',
    'localhost',
    '10.0.0.1',
    '172.16.1.1:443',
    '192.168.1.1:5000',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0:80',
  ])('exclude %s unless it is listed', async (registry) => {
    const error = { kind: 'permission_denied', message: expect.stringContaining('SANDYARD_REGISTRIES does not list it') }
    await expect(new AllowedRegistries([]).check(reference(registry))).rejects.toMatchObject(error)
    await new AllowedRegistries([registry]).check(reference(registry))
  })

  it.each(['127.1:5000', '2130706433:5000', '0x7f.0.0.1:5000'])('exclude %s, another form of a loopback address', async (registry) => {
    await expect(new AllowedRegistries([]).check(reference(registry))).rejects.toMatchObject({
      kind: expect.stringMatching(/^(permission_denied|unavailable)$/),
    })
  })

  it.each([['10.1.2.3'], ['198.51.100.1', '127.0.0.1'], ['::1'], ['fd00::1'], ['fe80::1'], ['::ffff:10.0.0.1'], ['64:ff9b::7f00:1']])(
    'exclude names that resolve to %s',
    async (...addresses) => {
      await expect(check('registry.example', [], at(...addresses))).rejects.toMatchObject({ kind: 'permission_denied' })
      await expect(check('registry.example:5000', ['*'], at(...addresses))).rejects.toMatchObject({ kind: 'permission_denied' })
    },
  )

  it('are all public ones by default, and Docker Hub needs no lookup', async () => {
    await check('registry.example', [], at('198.51.100.1', '2001:4860::1'))
    await check('docker.io')
    await expect(check('nowhere.example')).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('are only those of the list, at any address, and on every port if the list names none', async () => {
    const listed = ['registry.example', '10.0.0.1:5000']
    await check('registry.example:5001', listed)
    await check('10.0.0.1:5000', listed)
    for (const registry of ['docker.io', '10.0.0.1:5001', 'other.example']) {
      await expect(check(registry, listed, at('198.51.100.1'))).rejects.toMatchObject({
        message: expect.stringContaining('does not use images of that registry'),
      })
    }
  })

  it('are those of the list and all public ones if the list contains *', async () => {
    await check('127.0.0.1:5000', ['*', '127.0.0.1'])
    await check('docker.io', ['*', '127.0.0.1'])
    await expect(check('127.0.0.2:5000', ['*', '127.0.0.1'], { '127.0.0.2': ['127.0.0.2'] })).rejects.toMatchObject({
      kind: 'permission_denied',
    })
  })
})
