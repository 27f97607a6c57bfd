import { defineConfig } from "vitest/config";

const OUT = "../src/dwell/web/static";

// What the first picture needs and later code as well: one file, not one for each such module.
const SHARED = /src\/(arc|density|geometry|map)\//;

// Names without hashes, so that the built bundle can be committed and compared.
const page = {
  base: "/static/",
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    // What page.js imports is fetched beside it, not after it; what is loaded later needs no list.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_: string, files: string[], { hostType }: { hostType: string }): string[] =>
        hostType === "html" ? files : [],
    },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: "page.js",
        chunkFileNames: "[name].js",
        codeSplitting: { groups: [{ name: "shared", test: SHARED, minShareCount: 2 }] },
        assetFileNames: (asset: { names: string[] }): string =>
          asset.names[0]?.endsWith(".css") ? "page.css" : "[name][extname]",
      },
    },
  },
};

// The player is one module and one sheet without any address in them: exported files hold both.
const player = {
  base: "/static/",
  publicDir: false as const,
  build: {
    outDir: OUT,
    emptyOutDir: false,
    target: "es2022",
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: "src/player/main.tsx",
      preserveEntrySignatures: "strict" as const,
      output: { codeSplitting: false, entryFileNames: "player.js", assetFileNames: "player[extname]" },
    },
  },
};

export default defineConfig(({ mode }) => ({
  ...(mode === "player" ? player : page),
  test: { css: true }, // a test reads the colours of the sheet
  server: { proxy: { "/api": { target: "http://127.0.0.1:8765", ws: true } } },
}));
