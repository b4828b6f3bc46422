(** The checker as a program in OCaml. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt QArith.
From Phantom Require Import Statement Checker Bounds.

Extraction Language OCaml.
Extraction "checker.ml" bounds Qred.
