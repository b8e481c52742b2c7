/**
 * The namespace that a team's name makes (control-plane.md 2.5): of an e-mail address the part before the `@`, without accents,
 * letters, digits and hyphens only, lower case. A name that leaves nothing gets `team`.
 */
export function teamSlug(name: string): string {
  const base = /^[^@\s]+@[^@\s]+$/.test(name) ? name.slice(0, name.indexOf('@')) : name
  const slug = base
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^A-Za-z0-9\s-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-')
    .toLowerCase()
  return slug === '' ? 'team' : slug
}
