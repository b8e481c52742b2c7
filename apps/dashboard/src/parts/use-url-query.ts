import { useLocation } from 'preact-iso/router'
import { queryText } from '../api/send.ts'

export type UrlQuery = Readonly<Record<string, string>>

/** The filters of a screen, which are in its address. A change replaces the entry of the history; an empty text removes the name. */
export function useUrlQuery(): readonly [UrlQuery, (change: Readonly<Record<string, string>>) => void] {
  const { path, query, route } = useLocation()
  const change = (changes: Readonly<Record<string, string>>): void => {
    const next = Object.fromEntries(Object.entries({ ...query, ...changes }).filter(([, value]) => value !== ''))
    route(`${path}${queryText(next)}`, true)
  }
  return [query, change]
}
