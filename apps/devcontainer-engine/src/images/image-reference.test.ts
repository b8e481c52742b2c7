import { describe, expect, it } from 'vitest'
import { completeReference, isOnLoopback } from './image-reference.ts'

describe('completeReference', () => {
  it.each([
    ['ubuntu', 'docker.io/library/ubuntu:latest'],
    ['user/app:1', 'docker.io/user/app:1'],
    ['mcr.microsoft.com/devcontainers/base:bookworm', 'mcr.microsoft.com/devcontainers/base:bookworm'],
    ['localhost:5000/app', 'localhost:5000/app:latest'],
    ['ghcr.io/a/b@sha256:00', 'ghcr.io/a/b@sha256:00'],
    ['localhost:5000/a:12@sha256:00', 'localhost:5000/a@sha256:00'],
  ])('completes %s', (reference, completed) => {
    expect(completeReference(reference)).toBe(completed)
  })

  it('refuses what is no name', () => {
    expect(() => completeReference('a b')).toThrow("'a b' is not the name of an image")
  })
})

describe('isOnLoopback', () => {
  it('is true for loopback only', () => {
    expect(['localhost:5000/a:1', '127.0.0.1/a:1', 'localhost.example.com/a:1', '127.0.0.1.example.com/a:1'].map(isOnLoopback)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})
