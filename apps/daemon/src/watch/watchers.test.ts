import { readdirSync, readlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Watchers } from './watchers.ts'

const inotifyInstances = (): number => {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => link.includes('inotify')).length
}

it('opens no inotify instance if the daemon shuts down while the hub loads', async () => {
  const before = inotifyInstances()
  const shutdown = new AbortController()
  const opening = new Watchers(shutdown.signal).openHub()
  shutdown.abort('shutting down')
  await expect(opening).rejects.toBe('shutting down')
  expect(inotifyInstances()).toBe(before)
})

it('closes the inotify instance at a shutdown', async () => {
  const before = inotifyInstances()
  const shutdown = new AbortController()
  await new Watchers(shutdown.signal).openHub()
  expect(inotifyInstances()).toBe(before + 1)
  shutdown.abort()
  expect(inotifyInstances()).toBe(before)
})
