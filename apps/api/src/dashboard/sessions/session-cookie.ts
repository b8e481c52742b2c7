import type { FastifyRequest } from 'fastify'
import { SESSION_MAX_MS } from '@sandyard/dashboard-contract/limits'

/** A sandbox's page on the same domain cannot set a cookie with this prefix, but browsers accept it over TLS only. */
const SECURE_NAME = '__Host-sandyard'
const PLAIN_NAME = 'sandyard'

/** 256 random bits as base64url. */
const TOKEN = /^[\w-]{43}$/
/** A page of a sandbox may have set further cookies with the same name (stray-cookies.ts); more are not looked at. */
const MAX_CANDIDATES = 4

type Head = Pick<FastifyRequest, 'headers'>

/** The different session tokens of a request, in the order of the Cookie header. */
export function readTokens({ headers }: Head, isSecure: boolean): string[] {
  const tokens = cookieValues(headers, isSecure).filter((value) => TOKEN.test(value))
  return [...new Set(tokens)].slice(0, MAX_CANDIDATES)
}

/** The values of all cookies with the name of ours. */
export function cookieValues({ cookie = '' }: Head['headers'], isSecure: boolean): string[] {
  const name = cookieName(isSecure)
  return cookie.split(';').flatMap((pair) => {
    const [key, value = ''] = pair.trim().split('=')
    return key === name ? [value] : []
  })
}

export function cookieName(isSecure: boolean): string {
  return isSecure ? SECURE_NAME : PLAIN_NAME
}

/** The value of `Set-Cookie`. Its lifetime is that of the session at most; the row decides. */
export function sessionCookie(token: string, isSecure: boolean): string {
  return cookie(token, isSecure, SESSION_MAX_MS / 1000)
}

export function removedCookie(isSecure: boolean): string {
  return cookie('', isSecure, 0)
}

function cookie(value: string, isSecure: boolean, maxAge: number): string {
  const attributes = `Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Strict`
  return `${cookieName(isSecure)}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`
}
