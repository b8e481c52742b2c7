import { expect, it } from 'vitest'
import { driverConfig, findDriverProblem, placeAbove, readDriverOptions } from './volume-driver.ts'

it('reads options that contain commas and signs of equality', () => {
  expect(readDriverOptions('type=nfs; o=addr=10.0.0.5,rw,nfsvers=4.2 ;device=:/export/{volume};')).toEqual({
    type: 'nfs',
    o: 'addr=10.0.0.5,rw,nfsvers=4.2',
    device: ':/export/{volume}',
  })
  expect(readDriverOptions('')).toEqual({})
})

it.each(['type', '=x', 'a b=c', Array.from({ length: 33 }, (_, index) => `k${index}=v`).join(';')])('refuses the options %s', (text) => {
  expect(() => readDriverOptions(text)).toThrow(/key=value|more than/)
})

it('gives each volume a directory of its own, and knows the one above', () => {
  const driver = { name: 'local', options: { type: 'none', o: 'bind', device: '/srv/volumes/{volume}' } }
  expect(driverConfig(driver, 'v1')).toEqual({ Name: 'local', Options: { type: 'none', o: 'bind', device: '/srv/volumes/v1' } })
  expect(placeAbove(driver)).toEqual({ Name: 'local', Options: { type: 'none', o: 'bind', device: '/srv/volumes' } })
  expect(placeAbove({ name: 'local', options: {} })).toBeUndefined()
  expect(placeAbove({ name: 'local', options: { type: 'tmpfs', device: 'tmpfs' } })).toBeUndefined()
  expect(placeAbove({ ...driver, name: 'plugin' })).toBeUndefined()
})

it('refuses a driver with which two volumes would be one directory', () => {
  const problemOf = (name: string, options: string) => findDriverProblem({ name, options: readDriverOptions(options) })
  expect(problemOf('local', '')).toBeUndefined()
  expect(problemOf('local', 'type=tmpfs;device=tmpfs;o=size=1m')).toBeUndefined()
  expect(problemOf('local', 'type=none;o=bind;device=/srv/volumes/{volume}')).toBeUndefined()
  expect(problemOf('vieux/sshfs:latest', 'sshcmd=me@host:/volumes')).toBeUndefined()
  for (const options of [
    'type=none;o=bind;device=/srv/volumes',
    'type=nfs;o=addr=10.0.0.5',
    'device=/{volume}',
    'device=/{volume}/x',
    'device=/a/{volume}/{volume}',
  ])
    expect(problemOf('local', options), options).toMatch(/device that ends with/)
  expect(problemOf('a b', '')).toMatch(/not the name/)
})
