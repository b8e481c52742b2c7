import { expect, it } from 'vitest'
import { teamSlug } from './team-slug.ts'

it.each([
  ['Acme', 'acme'],
  ['jörg.müller@example.com', 'jorgmuller'],
  ['Two  Words!', 'two-words'],
  ['already-fine-1', 'already-fine-1'],
  ['日本', 'team'],
])('makes %s into %s', (name, slug) => expect(teamSlug(name)).toBe(slug))
