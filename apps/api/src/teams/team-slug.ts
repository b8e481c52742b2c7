/**
 * Makes a namespace from a team's name (control-plane.md 2.5): the part before the `@` of an e-mail address; lower case, without accents;
 * only letters, digits and hyphens. An empty result becomes `team`.
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
